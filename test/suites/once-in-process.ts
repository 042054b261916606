import { bringSuite } from '../support/suites';

bringSuite('once-in-process');
