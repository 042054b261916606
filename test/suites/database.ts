import { bringSuite } from '../support/suites';

bringSuite('database');
