import { bringSuite } from '../support/suites';

bringSuite('http');
