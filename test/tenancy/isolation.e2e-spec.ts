import { readDocument } from '../support/conformance';
import { faultsSeed } from '../support/chance';
import { PROBES } from '../support/isolation/probes';
import { runIsolation } from '../support/isolation/run';
import { routesOf, type Route } from '../support/routes';
import { ServiceUnderTest } from '../support/service-under-test';
import { onServer } from '../support/test-database';

/** Of more than five thousand; test/faults/at-length.e2e-spec.ts sends them all. */
const SHARE = 0.05;

/** They take no id but that of a session: signInAndOut (test/support/isolation/run.ts) calls them. */
const OF_SESSIONS = ['logout', 'refresh', 'token'];

describe('tenant isolation', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'warn', WEBHOOK_ALLOW_PRIVATE: 'on' });
  let routes: Route[];

  beforeAll(() => {
    routes = routesOf(service.app);
  });

  it('the isolation test knows every operation: one without probes fails here', () => {
    const operations = Object.values(readDocument().paths).flatMap((item) => Object.values(item));
    const documented = operations.map(({ operationId }) => operationId).sort();
    expect([...new Set([...PROBES.map(({ operation }) => operation), ...OF_SESSIONS])].sort()).toEqual(
      documented,
    );
    // What is not in the document has no data of tenants.
    const rest = routes.filter(({ name }) => /^GET \/(health\/|console\/|$)/.test(name));
    expect(routes.length).toBe(documented.length + rest.length);
  });

  it('every route that is not public declares its roles', () => {
    for (const { name, roles } of routes.filter(({ isPublic }) => !isPublic))
      expect([name, roles?.length]).not.toEqual([name, undefined]);
    expect(
      routes
        .filter(({ isPublic }) => isPublic)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([
      'GET /',
      'GET /console/*path',
      'GET /health/live',
      'GET /health/ready',
      'POST /auth/login',
      'POST /auth/refresh',
      'POST /auth/token',
    ]);
  });

  it('tenants are isolated against generated probes: nothing of others is read, told or changed', async () => {
    // Roles are checked before any statement: that is proven on one database.
    const everyRole = !onServer;
    const report = await runIsolation({ service, seed: faultsSeed('isolation'), share: SHARE, everyRole });
    expect(report.problems).toEqual([]);
    expect(report.probes).toBeGreaterThan(everyRole ? 1000 : 200);
    expect(report.statements).toBeGreaterThan(1000);
  });
});
