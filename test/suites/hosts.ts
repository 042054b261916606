import { bringSuite } from '../support/suites';

bringSuite('hosts');
