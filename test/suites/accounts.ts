import { bringSuite } from '../support/suites';

bringSuite('accounts');
