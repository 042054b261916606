import { bringSuite } from '../support/suites';

bringSuite('one-database-processes');
