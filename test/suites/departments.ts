import { bringSuite } from '../support/suites';

bringSuite('departments');
