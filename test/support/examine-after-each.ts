import { examineAll } from './examined-databases';

// Around e2e tests: whatever they did, the invariants hold after them.
afterEach(() => examineAll({ seldom: true }));
afterAll(() => examineAll());
