import { examineAll } from './examined-databases';

// Around every e2e test: whatever it did, the invariants hold after it.
afterEach(examineAll);
