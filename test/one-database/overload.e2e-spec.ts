import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Module, type MiddlewareConsumer } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { TenantryModule } from '../../src/index';
import { DeptReader } from '../../src/dept/dept-reader.repository';
import { DeptService } from '../../src/dept/dept.service';
import { ChangeWaiters } from '../../src/changes/change-waiters';
import { JwtAuthGuard } from '../../src/server/auth/jwt-auth.guard';
import { ShutdownState } from '../../src/server/health/health.controller';
import { aDept, type Answer, type ApiClient, aTenant } from '../../src/server/testing';
import { OverloadProtection } from '../../src/server/overload/overload-protection';
import { RequestContext } from '../../src/tenancy/request-context';
import { PLATFORM_TENANT } from '../../src/tenancy/tenant-code';
import { changePage, cursorNow } from '../support/follower';
import { FullHouse, type Wire } from '../support/full-house';
import { HeaderResolver, Host } from '../support/host';
import { Receiver } from '../support/receiver';
import { aTenantRow, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { deferred, until } from '../support/until';
import { connectTo } from '../support/wire';

const PATH = '/system/dept-api';
const told = ({ status, body }: Answer) => [status, (body.data as { reason?: string }).reason];
const REFUSED = [503, 'OVERLOADED'];
const TOP = { tenantId: PLATFORM_TENANT, parentId: 0, ancestors: '0', depth: 1 };

describe('a service with one place and one who waits', () => {
  let house: FullHouse;
  let api: ApiClient;
  let path: string;
  const accepted: Socket[] = [];

  beforeAll(async () => {
    house = await FullHouse.start();
    ({ api, path } = house);
    (house.service.app.getHttpServer() as Server).on('connection', (socket) => accepted.push(socket));
  });
  afterAll(() => house.stop());

  /** Until the service has read all that was sent on this connection. */
  const untilRead = ({ socket }: Wire) =>
    until(() => {
      const theirs = accepted.find((each) => !each.destroyed && each.remotePort === socket.localPort);
      return theirs?.bytesRead === socket.bytesWritten;
    });

  it('a full service refuses what is too much while others still wait, and the probes never', async () => {
    const letGo = await house.fill();
    const third = await api.get(path);
    expect([told(third), third.headers['retry-after']]).toEqual([REFUSED, '1']);
    expect((await house.service.anonymous.get('/health/live')).status).toBe(200);
    expect((await house.service.anonymous.get('/health/ready')).status).toBe(200);
    expect(house.counts).toMatchObject({ inWork: 1, waiting: 1 });
    await letGo();
    expect((await api.get(path)).status).toBe(200);
  });

  it('a full service refuses who waits too long while the place is still taken', async () => {
    const impatient = await FullHouse.start({ MAX_WAIT_MS: '50' });
    const { letGo } = impatient.holding();
    const first = impatient.api.get(impatient.path);
    await impatient.until({ inWork: 1 });
    expect(told(await impatient.api.get(impatient.path))).toEqual(REFUSED);
    expect(impatient.counts.inWork).toBe(1);
    letGo();
    expect((await first).status).toBe(200);
    await impatient.stop();
  });

  it('a full queue gives a place to the tenant that has fewer in it', async () => {
    const wide = await FullHouse.start({ MAX_WAITING: '2' });
    const rival = wide.service.as({ tenantId: await aTenantRow(wide.service.dataSource) });
    const rivalPath = `${PATH}/${await aDept(rival)}`;
    const { letGo } = wide.holding();
    const first = wide.api.get(wide.path);
    await wide.until({ inWork: 1 });
    const second = wide.api.get(wide.path);
    await wide.until({ waiting: 1 });
    const third = wide.api.get(wide.path);
    await wide.until({ waiting: 2 });
    const other = rival.get(rivalPath);
    expect(told(await third)).toEqual(REFUSED);
    letGo();
    expect((await Promise.all([first, second, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
    await wide.stop();
  });

  it('a full queue counts a tenant and all tenants below it as one', async () => {
    const wide = await FullHouse.start({ MAX_WAITING: '2' });
    const top = wide.service.as({ tenantId: await aTenantRow(wide.service.dataSource) });
    const child = wide.service.as({ tenantId: (await aTenant(top)).tenantId });
    const [topPath, childPath] = [`${PATH}/${await aDept(top)}`, `${PATH}/${await aDept(child)}`];
    const { letGo } = wide.holding();
    const first = top.get(topPath);
    await wide.until({ inWork: 1 });
    const second = top.get(topPath);
    await wide.until({ waiting: 1 });
    const third = top.get(topPath);
    await wide.until({ waiting: 2 });
    expect(told(await child.get(childPath))).toEqual(REFUSED);
    letGo();
    for (const each of [first, second, third]) expect((await each).status).toBe(200);
    await wide.stop();
  });

  it('callers whose tokens the service has not seen have places of their own', async () => {
    const { letGo } = house.holding();
    const strangers = ['ada', 'bob'].map((username) => house.service.as({ username }).get(path));
    await house.until({ inWork: 1, waiting: 1 });
    expect(told(await house.service.as({ username: 'eve' }).get(path))).toEqual(REFUSED);
    expect(told(await house.service.anonymous.get('/nowhere'))).toEqual(REFUSED);
    const known = api.get(path);
    await house.until({ inWork: 2, waiting: 1 });
    letGo();
    for (const each of [known, ...strangers]) expect((await each).status).toBe(200);
  });

  it('a key that the service has seen has the places of its tenant', async () => {
    const body = { name: 'seen', permissions: ['dept:read'] };
    const { secret } = (await house.service.as().post('/system/key-api', body)).body.data as {
      secret: string;
    };
    const key = house.service.anonymous.as(secret);
    expect((await key.get(path)).status).toBe(200);
    const { letGo } = house.holding();
    const stranger = house.service.as({ username: 'zoe' }).get(path);
    await house.until({ inWork: 1 });
    const known = [key.get(path), api.get(path)];
    await house.until({ inWork: 2, waiting: 1 });
    expect(told(await key.get(path))).toEqual(REFUSED);
    letGo();
    for (const each of [stranger, ...known]) expect((await each).status).toBe(200);
  });

  it('a full service serves sign-ins although all other places are taken', async () => {
    const empty = await house.fill();
    expect(told(await api.get(path))).toEqual(REFUSED);
    const login = { username: 'admin', password: 'admin-password' };
    expect((await house.service.anonymous.post('/auth/login', login)).status).toBe(200);
    await empty();
  });

  it('an answer that is given at once gives its place back', async () => {
    for (let n = 0; n < 3; n += 1) expect((await api.send('OPTIONS', path)).status).toBe(404);
    expect(house.counts).toMatchObject({ inWork: 0, waiting: 0 });
    expect((await api.get(path)).status).toBe(200);
  });

  it('nothing is done for a client that has left while it waited', async () => {
    const { letGo, calls } = house.holding();
    const first = api.get(path);
    await house.until({ inWork: 1 });
    const leaving = house.wire();
    leaving.send(`GET ${path}`);
    await house.until({ waiting: 1 });
    leaving.socket.destroy();
    await house.until({ waiting: 0 });
    expect(calls()).toBe(1);
    letGo();
    expect((await first).status).toBe(200);
    await house.until({ inWork: 0 });
  });

  it('the place of a client that has left is kept until the work is done', async () => {
    const { letGo } = house.holding();
    const leaving = house.wire();
    leaving.send(`GET ${path}`);
    await house.until({ inWork: 1 });
    const before = await house.connections();
    leaving.socket.destroy();
    await until(async () => (await house.connections()) < before);
    expect(house.counts.inWork).toBe(1);
    letGo();
    await house.until({ inWork: 0 });
  });

  it('all places come back when a client leaves that had sent several at once', async () => {
    const wide = await FullHouse.start({ MAX_IN_WORK: '6' });
    const { letGo } = wide.holding();
    const leaving = wide.wire();
    leaving.socket.write(`${wide.head()}\r\n`.repeat(3));
    await wide.until({ inWork: 3 });
    const before = await wide.connections();
    leaving.socket.resetAndDestroy();
    await until(async () => (await wide.connections()) < before);
    letGo();
    await wide.until({ inWork: 0 });
    await wide.stop();
  });

  it.each(['no request', 'CONNECT x:1 HTTP/1.1\r\nHost: x'])(
    'what came before %j is answered, and the connection ends then',
    async (broken) => {
      const { letGo } = house.holding();
      const line = house.wire();
      const ended = once(line.socket, 'end');
      line.send(`GET ${path}`);
      line.send('GET /health/live');
      await house.until({ inWork: 1 });
      await untilRead(line);
      for (let n = 0; n < 2; n += 1) line.socket.write(`${broken}\r\n\r\n`);
      await untilRead(line);
      letGo();
      expect([(await line.answer()).status, (await line.answer()).status]).toEqual([200, 200]);
      await ended;
      line.socket.destroy();
      await house.until({ inWork: 0 });
    },
  );

  it('a client that expects something odd, and waits, is told that its connection ends when the service stops', async () => {
    const own = await FullHouse.start({ MAX_WAITING: '2' });
    const odd = own.wire();
    const letGo = await own.fill();
    odd.send(`GET ${own.path}`, 'Expect: something\r\n');
    await own.until({ waiting: 2 });
    own.service.app.get(ShutdownState).request();
    await letGo();
    const { status, head } = await odd.answer();
    expect([status, /connection: close/i.test(head)]).toEqual([417, true]);
    await own.stop();
  });

  it('a service that stops answers all of several requests that a client has sent at once', async () => {
    const own = await FullHouse.start({ MAX_IN_WORK: '4' });
    own.service.app.get(ShutdownState).request();
    const line = own.wire();
    line.socket.write(`${own.head()}\r\n`.repeat(3));
    const answers = [await line.answer(), await line.answer(), await line.answer()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ head }) => /connection: close/i.test(head))).toEqual([false, false, true]);
    await own.stop();
  });

  it('a follower waits for a place again once there is something to look for, and nobody is refused for it', async () => {
    const after = await cursorNow(api);
    const waiters = house.service.app.get(ChangeWaiters, { strict: false });
    const followers = [1, 2].map(() => changePage(api, { after, wait: 25 }));
    await until(() => waiters.count === 2 && house.counts.inWork === 0);
    const { letGo } = house.holding();
    const reading = api.get(path);
    await house.until({ inWork: 1 });
    // Of the host: it needs no place.
    await house.service.app.get(DeptService).create(RequestContext.system(PLATFORM_TENANT), {});
    await house.until({ inWork: 1, waiting: 1 });
    expect(waiters.count).toBe(2);
    letGo();
    expect((await reading).status).toBe(200);
    for (const { rows } of await Promise.all(followers)) expect(rows).toHaveLength(1);
    expect(house.counts).toMatchObject({ inWork: 0, waiting: 0 });
  });

  it('an answer that stands behind a long poll on its connection gives its place back', async () => {
    const waiters = house.service.app.get(ChangeWaiters, { strict: false });
    const line = house.wire();
    line.send(`GET /system/change-api?wait=25&after=${await cursorNow(api)}`);
    await until(() => waiters.count === 1 && house.counts.inWork === 0);
    const { letGo } = house.holding();
    line.send(`GET ${path}`);
    await house.until({ inWork: 1 });
    letGo();
    await house.until({ inWork: 0 });
    expect(waiters.count).toBe(1);
    line.socket.destroy();
    await until(() => waiters.count === 0);
  });

  it.each(['tree', 'export'])('a client that does not read its large %s holds no place', async (name) => {
    const own = await FullHouse.start();
    const text = '😀'.repeat(60);
    const texts = { deptName: text, leader: text, createBy: text, updateBy: text, email: '😀'.repeat(90) };
    await deptRows(own.service.dataSource, 4900, (n) => ({ ...TOP, ...texts, phone: `${n}` }));
    const client = own.wire();
    client.socket.pause();
    let isBegun = false;
    (own.service.app.getHttpServer() as Server).once('request', (_, response: ServerResponse) => {
      void until(() => response.headersSent).then(() => (isBegun = true));
    });
    client.send(`GET ${PATH}/${name}`);
    await until(() => isBegun);
    await own.until({ inWork: 0 });
    expect((await own.api.get(own.path)).status).toBe(200);
    // It has not been cut off.
    client.socket.resume();
    const last = '"phone":"4899"';
    let [tail, isWhole] = ['', false];
    client.socket.on('data', (chunk) => {
      tail = (tail + chunk.toString('latin1')).slice(-chunk.length - last.length);
      isWhole ||= tail.includes(last);
    });
    await until(() => isWhole);
    await own.stop();
  });

  it('an export whose client has left while it stood behind a long poll keeps its tenant from no other', async () => {
    const own = await FullHouse.start({ MAX_IN_WORK: '4', MAX_WAITING: '8' });
    await deptRows(own.service.dataSource, 2000, () => ({ ...TOP, deptName: 'x'.repeat(60) }));
    const waiters = own.service.app.get(ChangeWaiters, { strict: false });
    const leaving = own.wire();
    leaving.send(`GET /system/change-api?wait=25&after=${await cursorNow(own.api)}`);
    await until(() => waiters.count === 1 && own.counts.inWork === 0);
    leaving.send(`GET ${PATH}/export`, 'X-Request-Id: behind\r\n');
    await until(async () => (await own.api.get(`${PATH}/export`)).status === 429);
    leaving.socket.resetAndDestroy();
    await until(async () => (await own.api.get(`${PATH}/export`)).status === 200);
    const line = () => own.service.log.find((text) => text.includes('"requestId":"behind"'));
    await until(() => line() !== undefined);
    expect(JSON.parse(line()!)).toMatchObject({ status: 499, reason: 'CLIENT_GONE', aborted: true });
    await own.stop();
  });

  it('a request with a body whose client has left takes no place', async () => {
    const [asked, goOn] = [deferred(), deferred()];
    const check = jest.spyOn(JwtAuthGuard.prototype, 'canActivate').mockImplementationOnce(async function (
      this: JwtAuthGuard,
      context,
    ) {
      const may = await JwtAuthGuard.prototype.canActivate.call(this, context);
      asked.resolve();
      await goOn.promise;
      return may;
    });
    const leaving = house.wire();
    leaving.send(`POST ${PATH}`, 'Content-Type: application/json\r\nContent-Length: 2\r\n', '{}');
    await asked.promise;
    const { letGo } = house.holding();
    const first = api.get(path);
    await house.until({ inWork: 1 });
    const before = await house.connections();
    leaving.socket.resetAndDestroy();
    await until(async () => (await house.connections()) < before);
    const entered = jest.spyOn(house.service.app.get(OverloadProtection), 'enter');
    goOn.resolve();
    await until(() => entered.mock.calls.length > 0);
    expect(house.counts.waiting).toBe(0);
    letGo();
    expect((await first).status).toBe(200);
    check.mockRestore();
    entered.mockRestore();
  });

  it('a write that is refused is logged and counted as refused', async () => {
    const own = await FullHouse.start({ HTTP_STATUS_MODE: 'always-200', MAX_WAIT_MS: '50' });
    const { letGo } = own.holding();
    const reading = own.api.get(own.path);
    await own.until({ inWork: 1 });
    const { status, body } = await own.api.post(PATH, {}, { 'x-request-id': 'refused' });
    expect([status, body.code]).toEqual([200, 503]);
    letGo();
    await reading;
    const line = () => own.service.log.find((text) => text.includes('"requestId":"refused"'));
    await until(() => line() !== undefined);
    expect(JSON.parse(line()!)).toMatchObject({ status: 503, reason: 'OVERLOADED' });
    await own.stop();
  });

  it('a ping that was sent is among the deliveries, although it gets no place for its answer', async () => {
    const own = await FullHouse.start({ WEBHOOK_ALLOW_PRIVATE: 'on', MAX_WAIT_MS: '50' });
    const receiver = await Receiver.start();
    const ends: (() => void)[] = [];
    receiver.answer('/slow', (response) => ends.push(() => response.end()));
    const { body } = await own.api.post('/system/webhook-api', { url: receiver.url('/slow') });
    const hook = `/system/webhook-api/${(body.data as { id: number }).id}`;
    const ping = own.api.post(`${hook}/ping`, undefined);
    await until(() => ends.length === 1);
    const { letGo } = own.holding();
    const reading = own.api.get(own.path);
    await own.until({ inWork: 1 });
    for (const end of ends) end();
    expect(told(await ping)).toEqual(REFUSED);
    letGo();
    await reading;
    const { rows } = (await own.api.get(`${hook}/deliveries`)).body.data as { rows: unknown[] };
    expect(rows).toHaveLength(1);
    await own.stop();
    await receiver.stop();
  });

  it('a body that is still on its way takes no place', async () => {
    const slow = Array.from({ length: 5 }, () => house.wire());
    for (const each of slow)
      each.send(`POST ${PATH}`, 'Content-Type: application/json\r\nContent-Length: 9\r\n');
    for (const each of slow) await untilRead(each);
    expect((await api.get(path)).status).toBe(200);
    expect((await api.post(PATH, {})).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });
});

describe('large trees of two tenants', () => {
  let service: ServiceUnderTest;
  let greedy: ApiClient[];
  let small: ApiClient;
  let smallPath: string;

  beforeAll(async () => {
    service = await ServiceUnderTest.start({ MAX_IN_WORK: '4', MAX_WAIT_MS: '60000' });
    const tenants = [await aTenantRow(service.dataSource), await aTenantRow(service.dataSource)];
    for (const tenantId of tenants) await deptRows(service.dataSource, 2100, () => ({ ...TOP, tenantId }));
    greedy = tenants.map((tenantId) => service.as({ tenantId }));
    small = service.as({ tenantId: await aTenantRow(service.dataSource) });
    smallPath = `${PATH}/${await aDept(small)}`;
    for (const caller of greedy) expect((await caller.get(PATH)).status).toBe(200);
  });
  afterAll(() => service.stop());

  it.each(['tree', 'tree?depth=9', 'tree?status=0', 'tree?asOf=0'])(
    'a third tenant has its small reads before those of /%s are over',
    async (path) => {
      let answered = 0;
      const trees = Array.from({ length: 16 }, async (_, n) => {
        const { status } = await greedy[n % 2]!.get(`${PATH}/${path}`);
        // For the past a few may wait, and the others are refused.
        if (status === 200) answered += 1;
      });
      for (let n = 0; n < 12; n += 1) expect((await small.get(smallPath)).status).toBe(200);
      expect(answered).toBeLessThan(8);
      await Promise.all(trees);
      expect(answered).toBeGreaterThan(7);
    },
  );

  describe('while another tree has its turn', () => {
    let tenant: { readonly id: string; readonly tenantId: string };
    let api: ApiClient;
    const tree = `${PATH}/tree?depth=3`;

    beforeEach(async () => {
      tenant = await aTenant(service.as());
      api = service.as({ tenantId: tenant.tenantId });
    });
    afterEach(() => jest.restoreAllMocks());

    /** Asks for a tree that has to wait for its turn, and does something meanwhile. */
    async function askWhile(meanwhile: () => Promise<unknown>): Promise<Answer> {
      const { promise, resolve: letGo } = deferred();
      const held = jest.spyOn(DeptReader.prototype, 'findParents').mockImplementationOnce(async function (
        this: DeptReader,
        ...args
      ) {
        await promise;
        return DeptReader.prototype.findParents.apply(this, args);
      });
      const begun = jest.spyOn(DeptReader.prototype, 'beginLargeRead');
      const other = greedy[0]!.get(`${PATH}/tree?depth=1`);
      const isWaiting = () => {
        const readers = begun.mock.contexts as readonly DeptReader[];
        return begun.mock.calls.some(
          ([rows], call) => rows >= 250 && readers[call]?.tenantId === tenant.tenantId,
        );
      };
      await until(() => held.mock.calls.length > 0);
      const asked = api.get(tree);
      await until(isWaiting);
      await meanwhile();
      letGo();
      expect((await other).status).toBe(200);
      return asked;
    }

    async function anOrganisation(): Promise<readonly [full: number, moved: number]> {
      const [full, moved] = [await aDept(api), await aDept(api)];
      for (const [parentId, count] of [
        [full, 300],
        [moved, 10],
      ] as const)
        await deptRows(service.dataSource, count, () => ({
          ...{ tenantId: tenant.tenantId, parentId, ancestors: `0,${parentId}`, depth: 2 },
        }));
      return [full, moved];
    }

    it('a tree whose turn comes later is that of its turn', async () => {
      const [parentId, deptId] = await anOrganisation();
      const answer = await askWhile(() => api.patch(`${PATH}/${deptId}`, { parentId }));
      expect(answer.body).toEqual((await api.get(tree)).body);
    });

    it('who has waited for a turn is checked again', async () => {
      await anOrganisation();
      const answer = await askWhile(() =>
        service.as().patch(`/system/tenant-api/${tenant.id}`, { status: '1' }),
      );
      expect(told(answer)).toEqual([403, 'TENANT_DISABLED']);
    });
  });
});

describe('large trees in a host', () => {
  it.each(['tree', 'tree?asOf=0'])(
    'those of clients that have left do not keep others from /%s',
    async (path) => {
      const headers = new HeaderResolver();
      const principalResolver = {
        // It asks somebody else who is calling.
        resolve: async (request: Request) => {
          await sleep(50);
          return headers.resolve(request);
        },
      };
      const host = await Host.start({
        imports: [TenantryModule.forRoot({ principalResolver, userDirectory: 'none' })],
      });
      await deptRows(host.dataSource, 600, () => TOP);
      const toRead = (address: string) =>
        `GET ${address} HTTP/1.1\r\nHost: x\r\nx-tenant: ${PLATFORM_TENANT}\r\nx-roles: tenant_admin\r\n\r\n`;
      const tree = toRead(`${PATH}/${path}`);
      const poll = toRead(`/system/change-api?wait=25&after=${await cursorNow(host.as())}`);
      const leave = async (sent: string, ms: number) => {
        const { socket } = connectTo(host.anonymous.baseUrl);
        socket.write(sent);
        await sleep(ms);
        socket.resetAndDestroy();
      };
      // Before they are known, while they are read, and behind others on one connection.
      for (const ms of [20, 60, 70, 80, 90]) await leave(tree, ms);
      await leave(tree.repeat(4), 70);
      await leave(poll + tree, 200);
      // Refused after ten seconds where a place was not given back.
      expect((await host.as().get(`${PATH}/${path}`)).status).toBe(200);
      await host.stop();
    },
  );
});

/** As adapters of serverless platforms do: the socket of a request is a plain object. */
@Module({})
class WithoutSockets {
  configure(consumer: MiddlewareConsumer): void {
    const hide = (request: Request, _: Response, next: NextFunction): void => {
      Object.defineProperty(request, 'socket', { value: { remoteAddress: '127.0.0.1' } });
      next();
    };
    consumer.apply(hide).forRoutes('{*path}');
  }
}

it('a host whose requests have no socket answers large trees and long polls', async () => {
  const host = await Host.start({
    imports: [
      WithoutSockets,
      TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' }),
    ],
  });
  await deptRows(host.dataSource, 600, () => TOP);
  const api = host.as();
  expect((await api.get(`${PATH}/tree`)).status).toBe(200);
  expect((await changePage(api, { after: await cursorNow(api), wait: 1 })).rows).toEqual([]);
  await host.stop();
});

describe('a service with two connections', () => {
  it('a service closes a connection beyond MAX_CONNECTIONS at once, and takes one again when another has ended', async () => {
    const service = await ServiceUnderTest.start({ MAX_CONNECTIONS: '2' });
    const { baseUrl } = service.anonymous;
    const ask = ({ socket, answer }: ReturnType<typeof connectTo>) => {
      socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
      return answer();
    };
    const [first, second] = [connectTo(baseUrl), connectTo(baseUrl)];
    for (const each of [first, second]) expect((await ask(each)).status).toBe(200);
    const third = connectTo(baseUrl).socket.resume();
    await once(third, 'end');
    first.socket.destroy();
    await until(async () => {
      const again = connectTo(baseUrl);
      const closed = once(again.socket.resume(), 'end').then(() => null);
      const taken = await Promise.race([closed, ask(again)]);
      again.socket.destroy();
      return taken?.status === 200;
    });
    second.socket.destroy();
    await service.stop();
  });
});
