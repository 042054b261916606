import { bringSuite } from '../support/suites';

bringSuite('accounts-and-tenants');
