import { bringSuite } from '../support/suites';

bringSuite('quotas');
