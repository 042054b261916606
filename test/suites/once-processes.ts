import { bringSuite } from '../support/suites';

bringSuite('once-processes');
