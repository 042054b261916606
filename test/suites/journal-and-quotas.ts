import { bringSuite } from '../support/suites';

bringSuite('journal-and-quotas');
