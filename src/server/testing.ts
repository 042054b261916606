/** A kit for tests: of a host that embeds Tenantry, or of a client of its REST API. It needs no test framework. */
export { ApiClient, type Answer, type Exchange, type RefusalBody } from '../testing/api-client';
export { aDept, aTenant, aUser, type Place } from '../testing/builders';
export { TestService, type TestServiceOptions } from './test-service';
export {
  throwAwayDatabase,
  type ThrowAwayDatabase,
  type ThrowAwayOptions,
} from '../testing/throw-away-database';
export { mintToken, TEST_SECRET, type Caller } from './test-tokens';
