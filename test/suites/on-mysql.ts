import { bringSuite } from '../support/suites';

bringSuite('on-mysql');
