import { bringOnceSuite } from '../support/suites';

bringOnceSuite('once-in-process');
