import { aDept, type ApiClient } from '../../src/server/testing';
import { parametersOf, readDocument, wholeSchema } from '../support/conformance';
import { aTenantWith } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

interface Schema {
  readonly $ref?: string;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Record<string, Schema>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: Parameter[];
  readonly requestBody?: {
    readonly content: Record<string, { schema: Schema; example?: unknown }>;
  };
}

const FORM = 'application/x-www-form-urlencoded';

/** Nobody can know these before: a token of a session, and an id that the service draws. */
const NEEDS_A_SECRET = ['refresh'];
const NEEDS_AN_ID = ['updateTenant', 'patchTenant', 'deleteTenant', 'restoreTenant'];
/** These spend quotas, of which the platform has none. */
const NEEDS_A_QUOTA = /Quota$|Reservation$/;
/** These end the sessions of the account that sends all others. */
const ENDS_SESSIONS = ['endUserSession', 'endUserSessions'];
/** These sign in as the account that an example creates, before another changes its password. */
const NEEDS_THE_ACCOUNT = ['login', 'token'];

describe('the examples of the document, on a fresh start', () => {
  const document = readDocument() as unknown as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  let service: ServiceUnderTest;
  let admin: ApiClient;
  let tenantWithQuota: string;
  let tenantAdmin: ApiClient;
  let withoutSession: ApiClient;
  let deletedTenant: string | undefined;

  beforeAll(async () => {
    // The name in the example of a webhook leads nowhere.
    service = await ServiceUnderTest.start({ WEBHOOK_ALLOW_PRIVATE: 'on' });
    admin = service.anonymous.as((await signIn()).accessToken);
    withoutSession = service.as({ roles: ['superadmin'] });
    tenantWithQuota = await aTenantWith(service.dataSource, { riskReport: 100 });
    tenantAdmin = service.as({ tenantId: tenantWithQuota });
  });
  afterAll(() => service.stop());

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
  );
  // From the top to the bottom of the page; what deletes or ends comes last.
  const place = ({ method, operationId }: { method: string; operationId: string }) => {
    if (operationId === 'createUser') return 0;
    if (ENDS_SESSIONS.includes(operationId)) return 6;
    if (NEEDS_THE_ACCOUNT.includes(operationId)) return 1;
    if (operationId.startsWith('restore')) return 4;
    if (operationId.startsWith('refund') || operationId.startsWith('commit')) return 3;
    return operationId === 'logout' ? 5 : method === 'delete' ? 3 : 2;
  };
  const tried = operations
    .filter(({ operationId }) => !NEEDS_A_SECRET.includes(operationId))
    .sort((a, b) => place(a) - place(b));

  it.each(tried.map((operation) => [operation.operationId, operation] as const))(
    'the example of %s works',
    async (id, operation) => {
      // One after the other: a tenant runs one import at a time.
      for (const [type, body] of bodies(operation)) {
        const answer = await call(operation, type, body);
        expect([id, answer.status, answer.text]).toEqual([id, 200, answer.text]);
      }

      async function call({ method, path }: typeof operation, type?: string, body?: unknown) {
        const tenant =
          id === 'restoreTenant' ? deletedTenant : NEEDS_AN_ID.includes(id) ? await someTenant() : undefined;
        if (id === 'deleteTenant') deletedTenant = tenant;
        const known = NEEDS_AN_ID.includes(id) ? tenant : undefined;
        const query = parametersOf<Parameter>(readDocument(), operation)
          .filter((each) => each.in === 'query' && each.required)
          .map(({ name, schema, example: told }) => `${name}=${String(told ?? schema.example)}`);
        const given: Record<string, string | undefined> = {
          id: known,
          messageId: id === 'resendMessage' ? await someMessage() : undefined,
          sessionId: id === 'endUserSession' ? await someSession() : undefined,
        };
        const pathOf = (name: string) => String(given[name] ?? exampleOf(operation, 'path', name));
        if (id === 'releaseReservation') await reserve(pathOf('key'));
        const sent =
          known !== undefined && typeof body === 'object' && body !== null && 'id' in body
            ? { ...body, id: known }
            : body;
        const caller = NEEDS_A_QUOTA.test(id)
          ? tenantAdmin
          : ENDS_SESSIONS.includes(id)
            ? withoutSession
            : admin;
        return caller.send(
          method.toUpperCase(),
          `${path.replace(/\{(\w+)\}/g, (_, name: string) => pathOf(name))}?${query.join('&')}`,
          type === FORM ? new URLSearchParams(sent as Record<string, string>).toString() : sent,
          type ? { 'content-type': type } : {},
        );
      }
    },
  );

  function exampleOf(operation: Operation, place: string, name: string): unknown {
    return parametersOf<Parameter>(readDocument(), operation).find(
      (each) => each.in === place && each.name === name,
    )?.schema.example;
  }

  async function signIn(): Promise<{ accessToken: string; refreshToken: string }> {
    const credentials = { username: 'admin', password: 'admin-password' };
    const { body } = await service.anonymous.post('/auth/login', credentials);
    return body.data as { accessToken: string; refreshToken: string };
  }

  async function someSession(): Promise<string> {
    return (await signIn()).refreshToken.split('.')[0]!;
  }

  /** Of a message about a change; nobody can know its version before. */
  async function someMessage(): Promise<string> {
    await aDept(admin);
    let found: string | undefined;
    await until(async () => {
      const { body } = await admin.get('/system/webhook-api/1/deliveries');
      const { rows } = body.data as { rows: { messageId: string }[] };
      found = rows.map(({ messageId }) => messageId).find((each) => !each.startsWith('msg_ping'));
      return found !== undefined;
    });
    return found!;
  }

  async function reserve(key: string): Promise<void> {
    const body = { amount: 1, key, seconds: 60 };
    const { text, status } = await tenantAdmin.post('/system/quota-api/riskReport/reservations', body);
    expect([text, status]).toEqual([text, 200]);
  }

  /** One body of each media type. */
  function bodies({ requestBody }: Operation): [type?: string, body?: unknown][] {
    if (!requestBody) return [[]];
    return Object.entries(requestBody.content).map(([type, { schema, example }]) => [
      type,
      example ?? sampleOf(schema),
    ]);
  }

  function sampleOf(schema: Schema): unknown {
    const { properties = {} } = wholeSchema(document, schema);
    return Object.fromEntries(
      Object.entries(properties).map(([name, { example, enum: choices }]) => [name, example ?? choices?.[0]]),
    );
  }

  async function someTenant(): Promise<string | undefined> {
    const { body } = await admin.get('/system/tenant-api');
    return (body.data as { rows: { id: string }[] }).rows.find(
      ({ id }) => id !== '1' && id !== tenantWithQuota,
    )?.id;
  }
});
