import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BadRequestException,
  Controller,
  Get,
  Param,
  Post,
  Query,
  type ExecutionContext,
} from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { of, throwError, type Observable } from 'rxjs';
import {
  Ctx,
  EntitlementService,
  QuotaService,
  RequestContext,
  RequireMenu,
  TenantryModule,
  TenantryTransaction,
  UsesQuota,
  type Principal,
  type QuotaKind,
  type TenantryOptions,
} from '../../src/index';
import type { Answer, ApiClient } from '../../src/server/testing';
import { HandClock } from '../support/hand-clock';
import { HeaderResolver, Host, system } from '../support/host';
import { OrderEntity } from '../support/host-tables';
import { numbersOf, QUOTAS } from '../support/quotas';
import { aTenantWith } from '../support/seeds';
import { deferred } from '../support/until';

const clock = new HandClock();
let onCall: () => Promise<void> = () => Promise.resolve();

@Controller('reports')
class ReportController {
  static calls = 0;

  @UsesQuota('riskReport')
  @Post()
  async make(@Query('fails') fails?: string): Promise<object> {
    ReportController.calls += 1;
    await onCall();
    if (fails !== undefined) throw new BadRequestException('no report');
    return { report: ReportController.calls };
  }

  @UsesQuota('riskReport', { amount: 3, seconds: 60 })
  @Post('large')
  large(@Query('fails') fails?: string): Observable<object> {
    return fails === undefined ? of({ large: true }) : throwError(() => new Error('a bug'));
  }

  @UsesQuota('riskReport', { spends: ({ code }: { code: number }) => code === 0 })
  @Post('house')
  house(@Query('code') code: string): object {
    return { code: Number(code) };
  }

  @UsesQuota('render', { replays: true })
  @Post('render')
  render(@Ctx() { tenantId }: RequestContext): object {
    ReportController.calls += 1;
    return { tenantId };
  }
}

@RequireMenu(100)
@Controller('menus')
class MenuController {
  @Get()
  any(): object {
    return { seen: true };
  }

  @RequireMenu(200)
  @Get('more/:id')
  more(@Param('id') id: string): object {
    return { id };
  }
}

const KINDS: readonly QuotaKind[] = [
  { name: 'render', defaultTotal: 2 },
  { name: 'sms_2-x', defaultTotal: -1 },
];

const OPTIONS: TenantryOptions = {
  principalResolver: new HeaderResolver(),
  userDirectory: 'none',
  clock,
  quotaKinds: KINDS,
};
const tenantry = (more: Partial<TenantryOptions> = {}) => TenantryModule.forRoot({ ...OPTIONS, ...more });

describe('quotas of a host', () => {
  let host: Host;
  let tenantId: string;
  let api: ApiClient;
  let quotas: QuotaService;

  beforeAll(async () => {
    host = await Host.start({
      imports: [tenantry(), TenantryModule.forFeature([OrderEntity])],
      controllers: [ReportController, MenuController],
    });
    quotas = host.app.get(QuotaService);
  });
  beforeEach(async () => {
    tenantId = await aTenantWith(host.dataSource, { riskReport: 5 }, { menuIds: '100,101' });
    api = host.as({ tenantId });
    ReportController.calls = 0;
    onCall = () => Promise.resolve();
  });
  afterAll(() => host.stop());

  const json = ({ status, text }: Answer): [number, Record<string, unknown>] => [
    status,
    JSON.parse(text) as Record<string, unknown>,
  ];
  const entries = async () => (await quotas.entries(system(tenantId), 'riskReport', {})).rows;

  describe('in one transaction with rows of the host', () => {
    const order = (key: string, fails?: Error) =>
      host.app.get(TenantryTransaction).run(system(tenantId), async (unit) => {
        const { available } = await unit.quotas.use('riskReport', { key, amount: 2 });
        await unit.rows(OrderEntity).insert({ title: key, amount: 2 });
        await unit.depts.create({ deptName: key });
        if (fails) throw fails;
        return available;
      });
    const orders = () => host.dataSource.manager.countBy(OrderEntity, { tenantId });

    it('quotas are spent with rows of the host, or not at all', async () => {
      await expect(order('a', new Error('a bug of the host'))).rejects.toThrow('a bug of the host');
      expect([await numbersOf(api), await entries(), await orders()]).toEqual([[5, 0, 0, 5], [], 0]);
      expect(await order('a')).toBe(3);
      expect(await order('b')).toBe(1);
      await expect(order('c')).rejects.toMatchObject({
        row: { reason: 'QUOTA_EXCEEDED' },
        details: { available: 1 },
      });
      expect([await numbersOf(api), await orders()]).toEqual([[5, 4, 0, 1], 2]);
    });

    it('quotas are reserved, committed, released and refunded in a transaction of the host', async () => {
      await host.app.get(TenantryTransaction).run(system(tenantId), async ({ quotas: own }) => {
        await own.reserve('riskReport', { key: 'a', amount: 2, seconds: 60 });
        await own.reserve('riskReport', { key: 'b', amount: 2, seconds: 60 });
        await own.commit('riskReport', 'a');
        await own.release('riskReport', 'b');
        await own.refund('riskReport', { ofKey: 'a', key: 'r', amount: 1 });
        expect((await own.of()).find(({ kind }) => kind === 'riskReport')).toMatchObject({
          used: 1,
          reserved: 0,
        });
      });
      expect(await numbersOf(api)).toEqual([5, 1, 0, 4]);
    });

    it('quotas are exact beside those who spend without a transaction, from the first counter on', async () => {
      const inUnit = (n: number) =>
        host.app.get(TenantryTransaction).run(system(tenantId), async (unit) => {
          await unit.quotas.use('sms_2-x', { key: `unit ${n}` });
          await unit.quotas.use('render', { key: `unit ${n}` }).catch(() => null);
        });
      const plain = (n: number) => quotas.use(system(tenantId), 'sms_2-x', { key: `plain ${n}` });
      await Promise.all([1, 2, 3, 4].flatMap((n) => [inUnit(n), plain(n)]));
      expect(await numbersOf(api, 'sms_2-x')).toEqual([-1, 8, 0, null]);
      expect(await numbersOf(api, 'render')).toEqual([2, 2, 0, 0]);
    });
  });

  it('quotas check what code of the host calls them with', async () => {
    const calls: (() => Promise<unknown>)[] = [
      () => quotas.use(system(tenantId), 'riskReport', { key: '', amount: 1 }),
      () => quotas.use(system(tenantId), 'riskReport', { key: 'k', amount: -5 }),
      () => quotas.use(system(tenantId), 'riskReport', { key: 'k', amount: 1.5 }),
      () => quotas.use(system(tenantId), 'riskReport', { key: 'k', note: 'n'.repeat(501) }),
      () => quotas.use(system(tenantId), 'riskReport', { key: 'a\u0000b' }),
      () => quotas.reserve(system(tenantId), 'riskReport', { key: 'k', amount: 1, seconds: 0 }),
      () => quotas.refund(system(tenantId), 'riskReport', { ofKey: 'k', key: 'r', amount: -1 }),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ row: { reason: 'INVALID_INPUT' } });
    const unknown = quotas.use(system(tenantId), 'constructor', { key: 'k' });
    await expect(unknown).rejects.toMatchObject({ row: { reason: 'QUOTA_KIND_UNKNOWN' } });
    await expect(quotas.of({ tenantId } as RequestContext)).rejects.toThrow('needs a RequestContext');
    expect(await numbersOf(api)).toEqual([5, 0, 0, 5]);
  });

  describe('@UsesQuota', () => {
    it('@UsesQuota spends when a handler succeeds, and releases when it throws', async () => {
      expect(json(await api.post('/reports', {}))).toEqual([201, { report: 1 }]);
      expect(await numbersOf(api)).toEqual([5, 1, 0, 4]);
      expect((await api.post('/reports?fails', {})).status).toBe(400);
      expect((await api.post('/reports/large?fails', {})).status).toBe(500);
      expect(await numbersOf(api)).toEqual([5, 1, 0, 4]);
      expect(json(await api.post('/reports/large', {}))).toEqual([201, { large: true }]);
      expect(await numbersOf(api)).toEqual([5, 4, 0, 1]);
      expect(await entries()).toMatchObject([
        { operation: 'commit', amount: 3 },
        { operation: 'commit', amount: 1, createBy: 'tester' },
      ]);
    });

    it('@UsesQuota does not spend for an answer that is not worth it, and the same key may try again', async () => {
      const once = { 'idempotency-key': 'house' };
      const failed = await api.post('/reports/house?code=500', {}, once);
      expect([json(failed), await numbersOf(api)]).toEqual([
        [201, { code: 500 }],
        [5, 0, 0, 5],
      ]);
      expect(json(await api.post('/reports/house?code=0', {}, once))).toEqual([201, { code: 0 }]);
      expect(await numbersOf(api)).toEqual([5, 1, 0, 4]);
      expect((await api.post('/reports/house?code=500', {}, once)).status).toBe(409);
    });

    it('@UsesQuota reserves while the handler runs', async () => {
      const seen: unknown[] = [];
      onCall = async () => void seen.push(await numbersOf(api));
      await api.post('/reports', {});
      expect(seen).toEqual([[5, 0, 1, 4]]);
    });

    it('@UsesQuota refuses the call when the quota is used up: the handler does not run', async () => {
      await quotas.use(system(tenantId), 'riskReport', { key: 'all', amount: 5 });
      const [status, told] = json(await api.post('/reports', {}));
      expect([status, told]).toMatchObject([409, { reason: 'QUOTA_EXCEEDED', available: 0 }]);
      expect(ReportController.calls).toBe(0);
    });

    it('@UsesQuota spends once for an Idempotency-Key, and for each call without one', async () => {
      const once = { 'idempotency-key': 'report 7' };
      expect((await api.post('/reports?fails', {}, once)).status).toBe(400);
      expect((await api.post('/reports', {}, once)).status).toBe(201);
      expect(json(await api.post('/reports', {}, once))).toMatchObject([409, { reason: 'RESERVATION_OVER' }]);
      expect(ReportController.calls).toBe(2);
      expect(await entries()).toMatchObject([{ key: 'report 7' }]);
      await api.post('/reports', {});
      await api.post('/reports', {});
      expect(await numbersOf(api)).toEqual([5, 3, 0, 2]);
      expect((await api.post('/reports', {}, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400);
    });

    it('@UsesQuota lets a handler that gives the same again do so, for nothing', async () => {
      const once = { 'idempotency-key': 'picture 7' };
      for (let n = 0; n < 3; n += 1)
        expect(json(await api.post('/reports/render', {}, once))).toEqual([201, { tenantId }]);
      expect(await numbersOf(api, 'render')).toEqual([2, 1, 0, 1]);
      expect(ReportController.calls).toBe(3);
    });

    it('@UsesQuota lets no call run beside an equal one that is under way: it would be for nothing', async () => {
      const once = { 'idempotency-key': 'both' };
      const [reached, ended] = [deferred(), deferred()];
      onCall = async () => {
        reached.resolve();
        await ended.promise;
      };
      const first = api.post('/reports', {}, once);
      await reached.promise;
      expect(json(await api.post('/reports', {}, once))).toMatchObject([409, { reason: 'RESERVATION_OVER' }]);
      expect(await numbersOf(api)).toEqual([5, 0, 1, 4]);
      ended.resolve();
      expect(json(await first)).toEqual([201, { report: 1 }]);
      expect(await numbersOf(api)).toEqual([5, 1, 0, 4]);
    });

    it('@UsesQuota spends once for equal calls at the same time that give the same', async () => {
      const once = { 'idempotency-key': 'both' };
      const answers = await Promise.all([1, 2, 3].map(() => api.post('/reports/render', {}, once)));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(await numbersOf(api, 'render')).toEqual([2, 1, 0, 1]);
    });

    it('@UsesQuota spends again for an id of the request that is sent twice', async () => {
      const same = { 'x-request-id': 'the-same-id' };
      expect((await api.post('/reports/render', {}, same)).status).toBe(201);
      expect((await api.post('/reports/render', {}, same)).status).toBe(409);
      expect(ReportController.calls).toBe(1);
    });

    it('@UsesQuota spends though the handler took longer than the reservation, if there is enough', async () => {
      onCall = async () => {
        clock.pass(601_000);
        await quotas.use(system(tenantId), 'riskReport', { key: 'meanwhile', amount: 4 });
      };
      expect((await api.post('/reports', {})).status).toBe(201);
      expect(await numbersOf(api)).toEqual([5, 5, 0, 0]);
      await quotas.refund(system(tenantId), 'riskReport', { ofKey: 'meanwhile', key: 'r', amount: 1 });
      onCall = async () => {
        clock.pass(601_000);
        await quotas.use(system(tenantId), 'riskReport', { key: 'the last' });
      };
      expect((await api.post('/reports', {})).status).toBe(409);
      expect(await numbersOf(api)).toEqual([5, 5, 0, 0]);
    });

    it('@UsesQuota asks who is calling', async () => {
      expect((await host.anonymous.post('/reports', {})).status).toBe(401);
      const disabled = await aTenantWith(host.dataSource, { riskReport: 5 }, { status: '1' });
      expect((await host.as({ tenantId: disabled }).post('/reports', {})).status).toBe(403);
      expect(ReportController.calls).toBe(0);
    });
  });

  describe('kinds of the host', () => {
    it('kinds of quotas of the host are beside the six, with the total that every tenant has', async () => {
      expect(await numbersOf(api, 'render')).toEqual([2, 0, 0, 2]);
      expect(await numbersOf(api, 'sms_2-x')).toEqual([-1, 0, 0, null]);
      const spend = (key: string) => api.post(`${QUOTAS}/render/use`, { key });
      expect([(await spend('a')).status, (await spend('b')).status]).toEqual([200, 200]);
      expect((await spend('c')).refusal).toMatchObject({ reason: 'QUOTA_EXCEEDED', available: 0 });
      expect(((await api.get(QUOTAS)).body.data as unknown[]).length).toBe(8);
    });
  });

  it('@RequireMenu opens handlers to tenants whose package has the menus', async () => {
    expect(json(await api.get('/menus'))).toEqual([200, { seen: true }]);
    const refused = { reason: 'MENU_NOT_LICENSED', ids: [200] };
    expect(json(await api.get('/menus/more/7'))).toMatchObject([403, refused]);
    const all = host.as({ tenantId: await aTenantWith(host.dataSource, {}, { menuIds: '200,100' }) });
    expect(json(await all.get('/menus/more/7'))).toEqual([200, { id: '7' }]);
    const none = host.as({ tenantId: await aTenantWith(host.dataSource, {}, { menuIds: '1000,10' }) });
    expect(json(await none.get('/menus'))).toMatchObject([403, { reason: 'MENU_NOT_LICENSED', ids: [100] }]);
    expect(json(await none.get('/menus/more/7'))).toMatchObject([403, { ids: [200, 100] }]);
    expect((await host.anonymous.get('/menus')).status).toBe(401);
    const entitlements = host.app.get(EntitlementService);
    expect(await entitlements.hasMenu(system(tenantId), 101)).toBe(true);
    expect(await entitlements.hasMenu(system(tenantId), 10)).toBe(false);
    expect(await entitlements.of(system(tenantId))).toMatchObject({ tenantId, menuIds: [100, 101] });
  });
});

/** Calls a handler as Nest calls those of microservices, gateways and GraphQL; without a kind, as libraries do that name none. */
function callAs<C extends object>(
  host: Host,
  type: string | undefined,
  handlers: C,
  method: keyof C & string,
) {
  const creator = host.app.get(ExternalContextCreator);
  const handler = handlers[method] as (...args: unknown[]) => unknown;
  const noOthers = { exchangeKeyForValue: () => undefined };
  const args = [handlers, handler, method, '__routeArguments__', noOthers] as const;
  return creator.create(...args, undefined, undefined, undefined, type);
}

/** Of a host with messages: their callers have tokens, which stand where each kind has its own place for them. */
class TokenResolver extends HeaderResolver {
  readonly callers = new Map<string, Principal>();

  override async resolveOther(context: ExecutionContext): Promise<Principal | null> {
    const [first, , third] = context.getArgs<[{ token: string }, unknown, { token: string }]>();
    await nextTurn();
    return this.callers.get(context.getType<string>() === 'graphql' ? third.token : first.token) ?? null;
  }
}

describe('a host with handlers of messages', () => {
  const resolver = new TokenResolver();
  const KINDS_OF_HANDLERS = ['rpc', 'ws', 'graphql', undefined];
  const forged = {
    headers: { 'x-tenant': '000000', 'x-user': 'eve', 'x-roles': 'superadmin' },
    user: { subject: 'eve', tenantId: '000000', username: 'eve', roles: ['superadmin'] },
    pipe: 'of a client',
    raw: { pipe: {} },
    token: 'none',
  };
  let host: Host;
  let withoutResolver: Host;

  beforeAll(async () => {
    const providers = [ReportController, MenuController];
    host = await Host.start({ imports: [tenantry({ principalResolver: resolver })], providers });
    const sameDatabase = { ...host.database, drop: () => Promise.resolve() };
    withoutResolver = await Host.on(sameDatabase, { imports: [tenantry()], providers });
  });
  afterAll(async () => {
    await withoutResolver.stop();
    await host.stop();
  });

  /** A caller of a tenant of its own, and what its messages are for handlers of this kind. */
  async function aSender(kind: string | undefined): Promise<[string, unknown[]]> {
    const tenantId = await aTenantWith(host.dataSource, { riskReport: 2 }, { menuIds: '100' });
    resolver.callers.set(tenantId, { subject: 's', tenantId, username: 'u', roles: ['member'] });
    const message = { token: tenantId };
    return [tenantId, kind === 'graphql' ? [forged, forged, message, {}] : [message, forged]];
  }

  it.each(KINDS_OF_HANDLERS)('a message is not taken for a request: %s', async (kind) => {
    const calls = (of: Host) => [
      callAs(of, kind, of.app.get(ReportController), 'make'),
      callAs(of, kind, of.app.get(MenuController), 'any'),
    ];
    for (const call of calls(withoutResolver))
      await expect(call(forged, forged, forged)).rejects.toThrow(
        `callers of HTTP requests only, not of ${kind ?? 'messages'}: the principalResolver has no resolveOther.`,
      );
    for (const call of calls(host))
      await expect(call(forged, forged, forged)).rejects.toMatchObject({ row: { reason: 'TOKEN_MISSING' } });
  });

  it('a request of Fastify is one, though it has none of the methods of Express', async () => {
    const [tenantId] = await aSender(undefined);
    const headers = { 'x-tenant': tenantId, 'x-roles': 'member', 'idempotency-key': 'a' };
    const make = callAs(host, undefined, host.app.get(ReportController), 'make');
    const request = { headers, raw: Readable.from([]) };
    await make(request);
    await expect(make({ ...request })).rejects.toMatchObject({ row: { reason: 'RESERVATION_OVER' } });
  });

  it.each(KINDS_OF_HANDLERS)('a message acts for the caller that resolveOther names: %s', async (kind) => {
    const make = callAs(host, kind, host.app.get(ReportController), 'make');
    const any = callAs(host, kind, host.app.get(MenuController), 'any');
    const [tenantId, sent] = await aSender(kind);
    expect(await any(...sent)).toEqual({ seen: true });
    await make(...sent);
    await make(...sent);
    await expect(make(...sent)).rejects.toMatchObject({ row: { reason: 'QUOTA_EXCEEDED' } });
    const all = await host.app.get(QuotaService).of(system(tenantId));
    expect(all.find(({ kind: of }) => of === 'riskReport')).toMatchObject({ used: 2, reserved: 0 });
  });

  it.each(KINDS_OF_HANDLERS)('@Ctx() gives each of many messages its own caller: %s', async (kind) => {
    const render = callAs(host, kind, host.app.get(ReportController), 'render');
    const senders = await Promise.all(Array.from({ length: 10 }, () => aSender(kind)));
    const answers = await Promise.all(senders.map(([, sent]) => render(...sent)));
    expect(answers).toEqual(senders.map(([tenantId]) => ({ tenantId })));
  });
});

describe('a host', () => {
  it('a host does not start with a kind that is none, or a handler that uses one that there is not', async () => {
    const again = tenantry({ quotaKinds: [{ name: 'riskReport', defaultTotal: 1 }] });
    await expect(Host.start({ imports: [again] })).rejects.toThrow("'riskReport' is there already");
    const start = Host.start({ imports: [tenantry({ quotaKinds: [] })], controllers: [ReportController] });
    await expect(start).rejects.toThrow(
      "Tenantry cannot start: ReportController.render uses the quota 'render', which is not among",
    );
  });

  it('a host without the routes of the library has quotas for its code and its handlers', async () => {
    const host = await Host.start({
      imports: [TenantryModule.forRoot({ ...OPTIONS, controllers: false })],
      controllers: [ReportController, MenuController],
    });
    const tenantId = await aTenantWith(host.dataSource, { riskReport: 5 }, { menuIds: '100' });
    const api = host.as({ tenantId });
    expect((await api.get(QUOTAS)).status).toBe(404);
    expect((await api.post('/reports', {})).status).toBe(201);
    expect((await api.get('/menus')).status).toBe(200);
    const all = await host.app.get(QuotaService).of(system(tenantId));
    expect(all.find(({ kind }) => kind === 'riskReport')).toMatchObject({ used: 1, available: 4 });
    await host.stop();
  });
});
