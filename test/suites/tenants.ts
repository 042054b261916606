import { bringSuite } from '../support/suites';

bringSuite('tenants');
