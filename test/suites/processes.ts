import { bringSuite } from '../support/suites';

bringSuite('processes');
