import { bringSuite } from '../support/suites';

bringSuite('commands');
