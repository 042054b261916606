import { bringOnceSuite } from '../support/suites';

bringOnceSuite('once-processes');
