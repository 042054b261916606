import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeWaiters } from '../../src/changes/change-waiters';
import { PermissionCatalogue } from '../../src/tenancy/permissions';
import { ROLES } from '../../src/tenancy/roles';
import { PrincipalResolver, RequestContext, TenantryModule, type Principal } from '../../src/index';
import { type Answer, type ApiClient, aDept } from '../../src/server/testing';
import { parametersOf, readDocument, type DocumentedOperation } from '../support/conformance';
import { CHANGES, cursorNow } from '../support/follower';
import { Host } from '../support/host';
import { expectRefused } from '../support/refusals';
import { routesOf } from '../support/routes';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

type Documented = DocumentedOperation & {
  readonly 'x-permission'?: string;
  readonly security?: readonly Record<string, readonly string[]>[];
};
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly example?: string | number };
}

const DOCUMENT = readDocument();
type Operation = (typeof OPERATIONS)[number];
const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Documented>).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    permission: operation['x-permission'] ?? null,
  })),
);
/** For callers without a token. */
const OPEN = OPERATIONS.filter(({ security }) => security?.length === 0);
const CLOSED = OPERATIONS.filter((each) => !OPEN.includes(each));
/** They need a token, and no permission: everybody may know who they are, and leave. */
const FOR_ALL = ['logout', 'getMe'];

/** What permission a request was refused for; null when it was let through, whatever came of it. */
function missing({ status, text }: Answer): string | null {
  if (status !== 403) return null;
  const { reason, permission } = (JSON.parse(text) as { data: { reason: string; permission?: string } }).data;
  expect(reason).toBe('PERMISSION_REQUIRED');
  return permission ?? 'none is named';
}

describe('the permission of an operation', () => {
  const service = ServiceUnderTest.use();
  const names = () => service.app.get(PermissionCatalogue).names;
  let tenantId: string;
  beforeAll(async () => {
    tenantId = await aTenantRow(service.dataSource);
  });

  /** Every operation, called with what none of them takes: guards come before what is sent, and nothing happens. */
  async function refusedFor(permissions: readonly string[]): Promise<Record<string, string | null>> {
    const api = service.as({ tenantId, permissions }).with({ prefer: 'handling=strict' });
    const call = async ({ operationId, method, path, parameters }: Operation) => {
      const known = parametersOf<Parameter>(DOCUMENT, { parameters } as object);
      const exampleOf = (name: string) => known.find((each) => each.name === name)?.schema.example ?? '1';
      const target = path.replace(/\{(\w+)\}/g, (_, name: string) => String(exampleOf(name)));
      return [
        operationId,
        missing(await api.send(method, `${target}?nobody-knows`, bodyOf(method))),
      ] as const;
    };
    return Object.fromEntries(await Promise.all(CLOSED.map(call)));
  }
  const bodyOf = (method: string) => (['GET', 'DELETE'].includes(method) ? undefined : '[]');
  const expected = (isHeld: (permission: string) => boolean) =>
    Object.fromEntries(
      CLOSED.map(({ operationId, permission }) => [
        operationId,
        permission === null || isHeld(permission) ? null : permission,
      ]),
    );

  it('the OpenAPI document names a permission for every operation, as a scope and in words', () => {
    const flows = (DOCUMENT.components as unknown as { securitySchemes: Record<string, Scheme> })
      .securitySchemes.password!.flows;
    expect(Object.keys(flows.password.scopes)).toEqual(names());
    expect(OPEN.map(({ operationId }) => operationId)).toEqual(['login', 'refresh', 'token']);
    const unnamed = CLOSED.filter(({ permission }) => permission === null);
    expect(unnamed.map(({ operationId }) => operationId).sort()).toEqual([...FOR_ALL].sort());
    for (const { operationId, permission, security, description } of CLOSED) {
      if (permission === null) continue;
      expect(names()).toContain(permission);
      expect([operationId, security]).toEqual([operationId, [{ password: [permission] }, { bearer: [] }]]);
      expect(description).toContain(`Permission: \`${permission}\`.`);
    }
    const used = new Set(CLOSED.map(({ permission }) => permission));
    expect(names().filter((name) => !used.has(name))).toEqual([]);
  });

  interface Scheme {
    readonly flows: { readonly password: { readonly scopes: Record<string, string> } };
  }

  it('an operation lets exactly those through who have its permission: one alone, all but one, none', async () => {
    expect(await refusedFor([])).toEqual(expected(() => false));
    expect(await refusedFor(names())).toEqual(expected(() => true));
    for (const name of names()) {
      expect([name, await refusedFor([name])]).toEqual([name, expected((held) => held === name)]);
      const others = names().filter((other) => other !== name);
      expect([name, await refusedFor(others)]).toEqual([name, expected((held) => held !== name)]);
    }
  });

  it('a permission gives no right that the role has not: the role is asked first', async () => {
    const member = service.as({ tenantId, roles: ['member'], permissions: names() });
    expectRefused(await member.post('/system/dept-api', {}), 403, 'ROLE_REQUIRED');
    const nobody = service.as({ tenantId, roles: ['member'], permissions: [] });
    expectRefused(await nobody.post('/system/dept-api', {}), 403, 'ROLE_REQUIRED');
  });

  it('the roles of a permission are those of all its operations together', () => {
    const routes = routesOf(service.app);
    const rolesOf = (name: string) => {
      const own = routes.filter(({ permission }) => permission === name).flatMap(({ roles = [] }) => roles);
      return ROLES.filter((role) => own.includes(role));
    };
    const catalogue = service.app.get(PermissionCatalogue);
    const described = (name: string) => ROLES.filter((role) => catalogue.held([role], [name]).length > 0);
    for (const name of names()) expect([name, described(name)]).toEqual([name, rolesOf(name)]);
  });

  it('the API guide has a table of all permissions with their roles and operations', () => {
    const catalogue = service.app.get(PermissionCatalogue);
    const rowOf = (name: string) => {
      const roles = ROLES.filter((role) => catalogue.held([role], [name]).length > 0);
      const own = CLOSED.filter(({ permission }) => permission === name);
      const operations = own.map(({ operationId }) => operationId).join(', ');
      return `| \`${name}\` | ${catalogue.descriptions[name]} | ${roles.join(', ')} | ${operations} |`;
    };
    const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'api.md'), 'utf8');
    const [, section = ''] = /\n### Permissions\n(.*?)\n##/s.exec(guide) ?? [];
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows).toEqual(names().map(rowOf));
  });

  it('a limited caller is told who they are, and what they hold of what their roles allow', async () => {
    const dataScope = [{ kind: 'depts', deptIds: [7], below: true }, { kind: 'own' }] as const;
    const part = { roles: ['dept_admin'], managedDeptIds: [7], dataScope } as const;
    const me = async (permissions?: string[]) =>
      (await service.as({ tenantId, ...part, ...(permissions && { permissions }) }).get('/auth/me')).body
        .data;
    const told = { managedDeptIds: [7], dataScope, roles: ['dept_admin'] };
    expect(await me(['change:read', 'dept:write', 'made:up'])).toMatchObject({
      ...told,
      permissions: ['dept:write'],
    });
    expect(await me([])).toMatchObject({ ...told, permissions: [] });
    expect(await me()).toMatchObject({
      ...told,
      permissions: names().filter((name) => /^(dept|user|signin|quota:read|entitlement)/.test(name)),
    });
  });
});

describe("a host's principal with permissions", () => {
  /** The host's own sign-in, which may change its mind. */
  class Callers extends PrincipalResolver {
    caller: Principal | null = null;
    override resolve(): Principal | null {
      return this.caller;
    }
  }
  const callers = new Callers();
  const allowed: string[] = [];
  let host: Host;
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    host = await Host.start({
      imports: [
        TenantryModule.forRoot({
          principalResolver: callers,
          userDirectory: 'none',
          authorize: (_, operation) => {
            allowed.push(operation);
            return operation !== 'exportDepts';
          },
        }),
      ],
    });
    tenantId = await aTenantRow(host.dataSource);
    api = host.anonymous;
  });
  afterAll(() => host.stop());

  function callAs(permissions?: readonly string[]): ApiClient {
    const caller: Principal = { subject: 'a', tenantId, username: 'a', roles: ['tenant_admin'] };
    callers.caller = { ...caller, ...(permissions && { permissions }) };
    return api;
  }

  it("a host's principal without permissions may do what its roles allow, one with an empty list nothing, others what they name", async () => {
    const [list, tree, cursor] = ['/system/dept-api', '/system/dept-api/tree', 'x-change-cursor'];
    expect((await callAs().post(list, {})).status).toBe(200);
    expect((await callAs().get(tree)).headers[cursor]).toBeDefined();
    expect((await callAs([]).get(list)).refusal).toMatchObject({ permission: 'dept:read' });
    expect((await callAs(['dept:read']).get(tree)).status).toBe(200);
    expect((await callAs(['dept:read']).get(tree)).headers[cursor]).toBeUndefined();
    expect((await callAs(['dept:read', 'change:read']).get(tree)).headers[cursor]).toBeDefined();
    expect((await callAs(['dept:read']).post(list, {})).refusal).toMatchObject({ permission: 'dept:write' });
    expect((await callAs(['orders:read', 'dept:*', '']).get(list)).refusal.permission).toBe('dept:read');
  });

  it("a host's own rule is asked after the permission, and may still refuse", async () => {
    allowed.length = 0;
    expect((await callAs(['tenant:read']).get('/system/dept-api/export')).refusal.permission).toBe(
      'dept:read',
    );
    expect(allowed).toEqual([]);
    expect((await callAs(['dept:read']).get('/system/dept-api/export')).status).toBe(403);
    expect(allowed).toEqual(['exportDepts']);
  });

  it("a host's principal whose permissions are odd is a mistake of the host, and opens nothing", async () => {
    for (const permissions of ['dept:read', [5], { 0: 'dept:read' }, null]) {
      const answer = await callAs(permissions as never).get('/system/dept-api');
      expect([permissions, answer.status]).toEqual([permissions, permissions === null ? 200 : 500]);
    }
  });

  it('a follower who has lost its permission while it waited is refused', async () => {
    const after = await cursorNow(callAs(['dept:read', 'change:read']));
    const answer = api.get(`${CHANGES}?after=${after}&wait=25`);
    await until(() => host.app.get(ChangeWaiters, { strict: false }).count === 1);
    callAs(['dept:read']);
    await aDept({ app: host.app, ctx: RequestContext.system(tenantId) });
    expect((await answer).refusal).toMatchObject({
      reason: 'PERMISSION_REQUIRED',
      permission: 'change:read',
    });
  });
});
