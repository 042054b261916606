import { aDept, aTenant, ApiClient, aUser, mintToken, type Answer } from '../../src/server/testing';
import { ChangeReader } from '../../src/journal/change-reader.repository';
import { ChangeWaiters } from '../../src/changes/change-waiters';
import { OverloadProtection } from '../../src/server/overload/overload-protection';
import { NOT_A_REQUEST } from '../../src/web/work-place';
import { CHANGES, changePage, cursorNow, Follower } from '../support/follower';
import { freshTenant } from '../support/fresh-tenant';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const DEPTS = '/system/dept-api';

describe('following what changes', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const problemOf = async (query: string, caller = api) => {
    const { status, refusal } = await caller.get(`${CHANGES}?${query}`);
    return [status, status === 200 ? null : refusal.reason];
  };

  it('the feed gives every change once, page by page, from the oldest on', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 25; n += 1) ids.push(await aDept(api));
    const follower = await new Follower(api).catchUp(4);
    expect(follower.changes.map(({ id }) => id)).toEqual(ids);
    await aDept(api);
    expect((await follower.catchUp(4)).changes).toHaveLength(26);
    expect(follower.problems).toEqual([]);
  });

  it('the feed begins where a cursor says; `now` gives only a cursor', async () => {
    await aDept(api);
    const page = await changePage(api, { after: 'now' });
    expect([page.rows, page.hasMore]).toEqual([[], false]);
    const empty = await changePage(api, { after: page.nextCursor });
    expect([empty.rows, empty.hasMore]).toEqual([[], false]);
    const deptId = await aDept(api);
    for (const after of [page.nextCursor, empty.nextCursor])
      expect((await changePage(api, { after })).rows.map(({ id }) => id)).toEqual([deptId]);
  });

  it('the feed gives only the kinds that are asked for, and goes on from the same cursor with others', async () => {
    const [deptId, userId] = [await aDept(api), await aUser(api)];
    const users = await changePage(api, { kinds: 'user,tenant' });
    expect(users.rows.map(({ kind, id }) => [kind, id])).toEqual([['user', userId]]);
    const after = await cursorNow(api);
    await aDept(api);
    expect((await changePage(api, { after, kinds: 'user' })).rows).toEqual([]);
    expect((await changePage(api, { after, kinds: 'dept' })).rows).toHaveLength(1);
    expect((await changePage(api)).rows[0]!.id).toBe(deptId);
  });

  it('the feed finds who did what and when, the newest first', async () => {
    const alice = service.as({ tenantId, username: 'alice' });
    const deptId = await aDept(alice);
    for (let n = 0; n < 6; n += 1) await api.patch(`${DEPTS}/${deptId}`, { orderNum: n });
    await alice.patch(`${DEPTS}/${deptId}`, { deptName: 'by alice' });
    const other = await aDept(api);
    const newest = await changePage(api, { order: 'desc', limit: 3 });
    expect([newest.rows.map(({ version }) => version), newest.hasMore]).toEqual([[9, 8, 7], true]);
    const rest = await changePage(api, { order: 'desc', limit: 100, after: newest.nextCursor });
    expect(rest.rows.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
    expect([rest.hasMore, rest.nextCursor]).toEqual([false, null]);
    const byAlice = await changePage(api, { order: 'desc', by: 'alice' });
    expect(byAlice.rows.map(({ operation, by }) => [operation, by])).toEqual([
      ['updated', 'alice'],
      ['created', 'alice'],
    ]);
    expect((await changePage(api, { kind: 'dept', id: other })).rows).toHaveLength(1);
    for (const order of ['asc', 'desc']) {
      const created = await changePage(api, { order, operation: 'created' });
      expect(created.rows.map(({ operation }) => operation)).toEqual(['created', 'created']);
      expect((await changePage(api, { order, operation: 'deleted' })).rows).toEqual([]);
    }
    const [day] = newest.rows[0]!.time.split(' ');
    expect((await changePage(api, { from: day, to: day })).rows).toHaveLength(9);
    expect((await changePage(api, { order: 'desc', to: '2020-01-01' })).rows).toEqual([]);
    expect((await changePage(api, { from: '2999-01-01T00:00:00Z' })).rows).toEqual([]);
  });

  it('the feed refuses what is not a cursor of this journal, and other nonsense', async () => {
    await aDept(api);
    const cursor = await cursorNow(api);
    const foreign = await cursorNow(service.as({ tenantId: await aTenantRow(service.dataSource) }));
    const list = (await changePage(api, { order: 'desc', limit: 1 })).nextCursor;
    for (const after of ['x', `${cursor}x`, cursor.replace(/^./, 'A'), foreign, list, ''])
      expect(await problemOf(`after=${after}`)).toEqual([400, 'INVALID_INPUT']);
    for (const query of [
      ...['kinds=dept,x', 'kinds=', 'kind=x', 'limit=0', 'limit=501', 'wait=26', 'wait=-1', 'order=up'],
      ...['operation=x', 'operation=', 'operation=created,updated'],
      ...['from=yesterday', 'to=2026-13-01', 'id=x', 'wait=1&order=desc'],
      ...['from=0000-01-01T00:00:00Z', 'to=9999-12-31T23:59:59-14:00'],
    ])
      expect([query, ...(await problemOf(query))]).toEqual([query, 400, 'INVALID_INPUT']);
  });

  it('the feed shows an administrator nothing of another tenant, above or beside', async () => {
    const platform = service.as();
    const [own, beside] = [await aTenant(platform), await aTenant(platform)];
    await aDept(platform);
    await aDept(service.as({ tenantId: beside.tenantId }));
    await aTenant(service.as({ tenantId: beside.tenantId }));
    const below = await aTenant(service.as({ tenantId: own.tenantId }));
    await aDept(service.as({ tenantId: below.tenantId }));
    const { rows } = await changePage(service.as({ tenantId: own.tenantId }));
    expect(rows.map(({ kind, id }) => [kind, id])).toEqual([
      ['tenant', own.id],
      ['tenant', below.id],
    ]);
  });

  it('lists, trees and exports tell the cursor at which they began', async () => {
    await aDept(api, { deptName: 'before' });
    const paths = [
      DEPTS,
      `${DEPTS}/tree`,
      `${DEPTS}/export?ids=true`,
      '/system/tenant-api',
      '/system/user-api',
    ];
    for (const path of paths) {
      const { headers } = await api.get(path);
      const cursor = headers['x-change-cursor'];
      const deptId = await aDept(api);
      const { rows } = await changePage(api, { after: cursor });
      expect(rows.at(-1)?.id).toBe(deptId);
    }
    const reader = service.as({ tenantId, roles: ['member'] });
    for (const path of [DEPTS, `${DEPTS}/tree`])
      expect((await reader.get(path)).headers['x-change-cursor']).toBeUndefined();
  });

  describe('long polls', () => {
    afterEach(() => jest.restoreAllMocks());

    it('a long poll is answered as soon as there is a change, and not before', async () => {
      const after = await cursorNow(api);
      const waiting = changePage(api, { after, wait: 25 });
      let isAnswered = false;
      void waiting.then(() => (isAnswered = true));
      await aDept(service.as({ tenantId: await aTenantRow(service.dataSource) }));
      expect(isAnswered).toBe(false);
      const deptId = await aDept(api);
      expect((await waiting).rows.map(({ id }) => id)).toEqual([deptId]);
    });

    it('a long poll is answered at once when there is something already, and with nothing when the time is over', async () => {
      const after = await cursorNow(api);
      const none = await changePage(api, { after, wait: 1 });
      expect([none.rows, none.hasMore]).toEqual([[], false]);
      await aDept(api);
      expect((await changePage(api, { after: none.nextCursor, wait: 25 })).rows).toHaveLength(1);
    });

    it('a long poll is not answered for a change of another kind', async () => {
      const after = await cursorNow(api);
      const waiting = changePage(api, { after, wait: 25, kinds: 'user' });
      await aDept(api);
      const userId = await aUser(api);
      expect((await waiting).rows.map(({ kind, id }) => [kind, id])).toEqual([['user', userId]]);
    });

    it('a long poll holds no place of a request in work', async () => {
      const small = await ServiceUnderTest.on(service.database, { MAX_IN_WORK: '1', MAX_WAITING: '1' });
      const own = small.as();
      const after = await cursorNow(own);
      const waiting = [];
      for (let n = 1; n <= 5; n += 1) {
        waiting.push(changePage(own, { after, wait: 25 }));
        await until(() => small.app.get(ChangeWaiters, { strict: false }).count === n);
      }
      await aDept(own);
      for (const { rows } of await Promise.all(waiting)) expect(rows).toHaveLength(1);
      await small.leave();
    });

    it('a long poll is answered when the service stops', async () => {
      const stopping = await ServiceUnderTest.on(service.database);
      const own = stopping.as();
      const after = await cursorNow(own);
      const waiting = changePage(own, { after, wait: 25 });
      await until(() => stopping.app.get(ChangeWaiters, { strict: false }).count > 0);
      await stopping.app.close();
      expect((await waiting).rows).toEqual([]);
    });

    /** How often the journal was read for pages, from now on. */
    const reads = (of: ServiceUnderTest): (() => number) => {
      const spy = jest.spyOn(of.app.get(ChangeReader, { strict: false }), 'findAfter');
      return () => spy.mock.calls.length;
    };
    /** Until so many wait, each of which has looked. */
    const untilWaiting = (count: number) =>
      until(() => {
        const { inWork } = service.app.get(OverloadProtection).counts;
        return inWork === 0 && service.app.get(ChangeWaiters, { strict: false }).count === count;
      });

    it('a long poll is woken only by what concerns it, also when another process commits it', async () => {
      const other = await ServiceUnderTest.on(service.database);
      const root = (at: ServiceUnderTest) => at.as({ roles: ['superadmin'] });
      const { id, tenantId: own } = await aTenant(root(service));
      const follower = service.as({ tenantId: own });
      const waiting = changePage(follower, { after: await cursorNow(follower), wait: 25 });
      const lineages = jest.spyOn(service.app.get(ChangeReader, { strict: false }), 'lineagesAfter');
      /** Until a tenant beside it is changed elsewhere, and that is known here. The first look at a journal wakes for nothing. */
      const untilHeard = async (): Promise<void> => {
        lineages.mockClear();
        await until(async () => {
          await aTenant(root(other));
          return lineages.mock.calls.length > 0;
        });
      };
      await untilHeard();
      // With the second look, the wake of the first is behind it.
      await untilHeard();
      await untilWaiting(1);
      const count = reads(service);
      await aTenant(root(service));
      await untilHeard();
      await untilHeard();
      expect(count()).toBe(0);
      await root(other).patch(`/system/tenant-api/${id}`, { companyName: 'another' });
      expect((await waiting).rows.map((row) => [row.kind, row.id])).toEqual([['tenant', id]]);
      await other.leave();
    });

    it('long polls at the same place read the journal once for all of them', async () => {
      const after = await cursorNow(api);
      const waiting = Array.from({ length: 30 }, () => changePage(api, { after, wait: 25, kinds: 'dept' }));
      await untilWaiting(30);
      const count = reads(service);
      await aDept(api);
      for (const { rows } of await Promise.all(waiting)) expect(rows).toHaveLength(1);
      // One for all; another when their journal was looked at for the first time.
      expect(count()).toBeLessThanOrEqual(2);
    });

    it('long polls are refused beyond a number for one top-level tenant and all below it', async () => {
      const child = (await aTenant(api)).tenantId;
      const callers = [tenantId, child].map((code) => `Bearer ${mintToken({ tenantId: code })}`);
      const after = await Promise.all([api, service.as({ tenantId: child })].map(cursorNow));
      // A client has 64 connections at most.
      const clients = Array.from(
        { length: 4 },
        (_, n) => new ApiClient(api.baseUrl, { authorization: callers[n % 2]! }),
      );
      const many = Array.from({ length: 140 }, (_, n) =>
        clients[n % 4]!.get(`${CHANGES}?after=${after[n % 2]}&wait=25`),
      );
      const answers: Answer[] = [];
      for (const each of many) void each.then((answer) => answers.push(answer));
      await until(() => answers.length === 40);
      for (const { status, refusal, headers: sent } of answers)
        expect([status, refusal.reason, sent['retry-after']]).toEqual([429, 'TOO_MANY_FOLLOWERS', '5']);
      // A neighbour still gets in.
      const neighbour = service.as({ tenantId: await aTenantRow(service.dataSource) });
      expect((await changePage(neighbour, { after: await cursorNow(neighbour), wait: 1 })).rows).toEqual([]);
      await service.as().patch(`/system/tenant-api/${child}`, { companyName: 'another' });
      await aDept(api);
      await aDept(service.as({ tenantId: child }));
      const all = await Promise.all(many);
      expect(all.filter(({ status }) => status === 200)).toHaveLength(100);
      for (const client of clients) client.close();
    });

    it('a long poll gives way to a newcomer of a tenant that has fewer when all places are taken', async () => {
      const waiters = service.app.get(ChangeWaiters, { strict: false });
      const gone = new AbortController();
      const read = () => Promise.resolve({ rows: [], nextCursor: null, hasMore: false });
      const answered: string[] = [];
      const follow = async (topTenantId: string): Promise<void> => {
        const follower = { ctx: { topTenantId }, topics: [], name: topTenantId, read };
        await waiters.until(follower, 25_000, { ...NOT_A_REQUEST, signal: gone.signal });
        answered.push(topTenantId);
      };
      const waiting = Array.from({ length: 10 }, (_, branch) =>
        Array.from({ length: 100 }, () => follow(`branch ${branch}`)),
      ).flat();
      const page = changePage(api, { after: await cursorNow(api), wait: 25 });
      await until(() => answered.length === 1);
      expect([answered, waiters.count]).toEqual([['branch 9'], 1000]);
      await expect(follow('branch 1')).rejects.toThrow('TOO_MANY_FOLLOWERS');
      await aDept(api);
      expect((await page).rows).toHaveLength(1);
      gone.abort();
      await Promise.all(waiting);
    });
  });
});
