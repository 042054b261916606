import { WebhookSender } from '../../src/changes/webhook/webhook-sender';
import { aDept, type ApiClient, aTenant, aUser } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { isGenuine, Receiver } from '../support/receiver';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const PATH = '/system/webhook-api';
const HOUR_MS = 3_600_000;

interface Hook {
  readonly id: number;
  readonly secret: string;
}

describe('webhooks', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({ WEBHOOK_ALLOW_PRIVATE: 'on' }, clock);
  let receiver: Receiver;
  let tenantId: string;
  let api: ApiClient;

  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    ({ tenantId, api } = await freshTenant(service, { username: 'ann' }));
  });
  afterAll(() => receiver.stop());

  const hook = async (path: string, fields: object = {}, by = api): Promise<Hook> => {
    const { body } = await by.post(PATH, { url: receiver.url(path), ...fields });
    return body.data as Hook;
  };
  const read = async ({ id }: Hook) => (await api.get(`${PATH}/${id}`)).body.data as Record<string, unknown>;
  const names = (path: string) => receiver.at(path).map(({ message }) => message.data.after?.deptName);
  const deliveries = async ({ id }: Hook, query = '') =>
    ((await api.get(`${PATH}/${id}/deliveries${query}`)).body.data as { rows: Record<string, unknown>[] })
      .rows;

  /** Little by little, because what fails is noted a moment later. Each commit makes the service look at once for what is due. */
  async function untilMuchLater(
    stepMs: number,
    isTrue: () => boolean | Promise<boolean>,
    by = api,
  ): Promise<void> {
    const path = `/system/user-api/${await aUser(by)}`;
    await until(async () => {
      clock.pass(stepMs);
      await by.patch(path, { nickname: clock.now().toISOString() });
      return isTrue();
    });
  }

  it('webhooks send each change with a signature that receivers can check', async () => {
    const { id, secret } = await hook('/signed');
    const deptId = await aDept(api, { deptName: '研发 “x”' });
    await until(() => receiver.at('/signed').length === 1);
    const [received] = receiver.at('/signed');
    const { headers, message } = received!;
    expect(isGenuine(secret, received!)).toBe(true);
    expect(isGenuine(secret, { ...received!, body: received!.body.replace('研', '妍') })).toBe(false);
    expect(isGenuine(`whsec_${Buffer.alloc(32).toString('base64')}`, received!)).toBe(false);
    const { version, seq } = message.data;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `msg_${tenantId}_${version}_${seq}_${id}`,
    });
    expect(Math.abs(Number(headers['webhook-timestamp']) - clock.now().getTime() / 1000)).toBeLessThan(60);
    expect(message).toMatchObject({
      type: 'dept.created',
      data: { tenantId, kind: 'dept', operation: 'created', id: deptId, by: 'ann', before: null },
    });
    expect(new Date(message.timestamp).toISOString()).toBe(message.timestamp);
    expect(service.log.join()).not.toContain(secret);
  });

  it('webhooks sign with the old secrets beside the new one for a day after each was replaced', async () => {
    const first = await hook('/rotated');
    const rotate = async () =>
      ((await api.post(`${PATH}/${first.id}/rotate`, undefined)).body.data as { secret: string }).secret;
    const signs = async (...secrets: string[]) => {
      const before = receiver.at('/rotated').length;
      await api.post(`${PATH}/${first.id}/ping`, undefined);
      const received = receiver.at('/rotated')[before]!;
      const count = String(received.headers['webhook-signature']).split(' ').length;
      return [count, ...secrets.map((secret) => isGenuine(secret, received))];
    };
    const second = await rotate();
    expect(second).not.toBe(first.secret);
    expect(await signs(second, first.secret)).toEqual([2, true, true]);
    clock.pass(12 * HOUR_MS);
    const third = await rotate();
    expect(await signs(third, second, first.secret)).toEqual([3, true, true, true]);
    clock.pass(13 * HOUR_MS);
    expect(await signs(third, second, first.secret)).toEqual([2, true, true, false]);
    clock.pass(12 * HOUR_MS);
    expect(await signs(third, second)).toEqual([1, true, false]);
    for (let n = 0; n < 8; n += 1) await rotate();
    expect((await signs(third))[0]).toBe(6);
    expect(await read(first)).toMatchObject({ updateBy: 'ann' });
  });

  it('webhooks send a message again when they are asked to, with the same id and body', async () => {
    const own = await hook('/resent');
    await aDept(api, { deptName: 'again' });
    await until(async () => (await deliveries(own)).length === 1);
    const [{ messageId } = { messageId: '' }] = await deliveries(own);
    const path = (id: number, message: unknown) => `${PATH}/${id}/deliveries/${String(message)}/resend`;
    receiver.answer('/resent', (response) => response.writeHead(500).end());
    await api.patch(`${PATH}/${own.id}`, { status: '1' });
    const failed = await api.post(path(own.id, messageId), undefined);
    expect(failed.body.data).toMatchObject({ messageId, attempt: 2, statusCode: 500 });
    receiver.answer('/resent');
    const sent = await api.post(path(own.id, messageId), undefined);
    expect(sent.body.data).toMatchObject({ messageId, attempt: 3, statusCode: 204 });
    const received = receiver.at('/resent');
    expect(received.map(({ id }) => id)).toEqual([messageId, messageId, messageId]);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(received.every((each) => isGenuine(own.secret, each))).toBe(true);
    expect(await deliveries(own, '?limit=1')).toEqual([sent.body.data]);
    // Neither what was sent to another webhook, nor a change that was never sent, nor a ping.
    const other = await hook('/resent-other', { status: '1' });
    const pinged = (await api.post(`${PATH}/${own.id}/ping`, undefined)).body.data as { messageId: string };
    const id = String(messageId);
    for (const [hookId, message] of [
      [other.id, id],
      [other.id, id.replace(/\d+$/, String(other.id))],
      [own.id, id.replace(tenantId, '000000')],
      [own.id, pinged.messageId],
      [own.id, `msg_${tenantId}_99999999999999999999_0_${own.id}`],
      [own.id, encodeURIComponent('消息')],
    ] as const)
      expect((await api.post(path(hookId, message), undefined)).refusal.reason).toBe('MESSAGE_NOT_FOUND');
  });

  it('webhooks send changes in the order of the commits, from the moment they are made', async () => {
    await aDept(api, { deptName: 'before' });
    await hook('/ordered', { kinds: ['dept'] });
    for (let n = 0; n < 20; n += 1) await aDept(api, { deptName: 'd' });
    const lines = Array.from({ length: 120 }, (_, n) => `{"path":"i${n}"}\n`).join('');
    await api.post('/system/dept-api/import', lines, { 'content-type': 'application/x-ndjson' });
    await until(() => receiver.at('/ordered').length >= 140);
    const order = receiver.at('/ordered').map(({ message: { data } }) => data.version * 1000 + data.seq);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect([order.length, new Set(order).size, names('/ordered').includes('before')]).toEqual([
      140,
      140,
      false,
    ]);
  });

  it('webhooks tell a tenant of tenants at and below its own, and of no parent outside', async () => {
    const root = service.as({ roles: ['superadmin'] });
    const [own, other] = [await aTenant(root), await aTenant(root)];
    const below = await aTenant(service.as({ tenantId: own.tenantId }));
    await hook('/tenants', { kinds: ['tenant'] }, service.as({ tenantId: own.tenantId }));
    await hook('/platform', { kinds: ['tenant'] }, root);
    await root.patch(`/system/tenant-api/${other.id}`, { companyName: 'foreign' });
    await root.patch(`/system/tenant-api/${below.id}`, { companyName: 'below' });
    await root.patch(`/system/tenant-api/${below.id}`, { tenantParent: other.tenantId });
    await root.patch(`/system/tenant-api/${below.id}`, { companyName: 'moved away' });
    await root.patch(`/system/tenant-api/${own.id}`, { companyName: 'own' });
    await until(() => receiver.at('/platform').length >= 5 && receiver.at('/tenants').length >= 3);
    const seen = receiver.at('/tenants').map(({ message: { type, data } }) => [type, data.id]);
    expect(seen).toEqual([
      ['tenant.updated', below.id],
      ['tenant.moved', below.id],
      ['tenant.updated', own.id],
    ]);
    const moved = receiver.at('/tenants')[1]!.message.data;
    expect([moved.before?.tenantParent, moved.after?.tenantParent]).toEqual([own.tenantId, null]);
    expect(
      receiver.received.filter(({ path, body }) => path === '/tenants' && body.includes(other.tenantId)),
    ).toEqual([]);
    expect(receiver.at('/platform').length).toBe(5);
  });

  it('webhooks retry with the same id and body until it is delivered; later changes wait, another hook does not', async () => {
    receiver.answer('/flaky', (response) => response.writeHead(500).end('no'));
    const [flaky] = [await hook('/flaky', { kinds: ['dept'] }), await hook('/good', { kinds: ['dept'] })];
    await aDept(api, { deptName: 'first' });
    await aDept(api, { deptName: 'second' });
    await until(() => receiver.at('/good').length === 2);
    const later = (isTrue: () => boolean) => untilMuchLater(10_000, isTrue);
    await later(() => receiver.at('/flaky').length >= 4);
    receiver.answer('/flaky', (response) =>
      response.writeHead(301, { location: receiver.url('/elsewhere') }).end(),
    );
    const before = receiver.at('/flaky').length;
    await later(() => receiver.at('/flaky').length > before);
    expect(new Set(names('/flaky'))).toEqual(new Set(['first']));
    receiver.answer('/flaky');
    await later(() => names('/flaky').includes('second'));
    const tried = receiver.at('/flaky').filter(({ message }) => message.data.after?.deptName === 'first');
    expect([new Set(tried.map(({ id }) => id)).size, new Set(tried.map(({ body }) => body)).size]).toEqual([
      1, 1,
    ]);
    expect(tried.every((each) => isGenuine(flaky.secret, each))).toBe(true);
    expect(receiver.at('/elsewhere')).toEqual([]);
    await until(async () => (await deliveries(flaky)).length === receiver.at('/flaky').length);
    const rows = await deliveries(flaky);
    expect(rows[0]).toMatchObject({ attempt: 1, statusCode: 204, error: null });
    expect(rows[1]).toMatchObject({ attempt: tried.length, statusCode: 204, messageId: tried[0]!.id });
    expect(rows.at(-1)).toMatchObject({ attempt: 1, statusCode: 500 });
    expect(rows.some(({ statusCode }) => statusCode === 301)).toBe(true);
    expect(await read(flaky)).toMatchObject({ status: '0', reason: null });
  });

  it('webhooks are disabled after two days without a delivery, and say why; enabled again they go on where they were', async () => {
    receiver.answer('/dead', (response) => response.writeHead(500).end());
    const dead = await hook('/dead', { kinds: ['dept'] });
    await aDept(api, { deptName: 'lost?' });
    await until(() => receiver.at('/dead').length === 1);
    const began = clock.now().getTime();
    await untilMuchLater(HOUR_MS, async () => (await read(dead)).status === '1');
    expect(clock.now().getTime() - began).toBeGreaterThanOrEqual(48 * HOUR_MS);
    expect(receiver.at('/dead').length).toBeGreaterThan(5);
    expect((await read(dead)).reason).toMatch(/two days.*500/);
    receiver.answer('/dead');
    const tries = receiver.at('/dead').length;
    await aDept(api, { deptName: 'later' });
    clock.pass(100 * HOUR_MS);
    const { id } = dead;
    expect((await api.post(`${PATH}/${id}/ping`, undefined)).body.data).toMatchObject({ statusCode: 204 });
    expect(receiver.at('/dead').length).toBe(tries + 1);
    await api.put(PATH, { webhookId: id, url: receiver.url('/dead'), kinds: ['dept'] });
    await until(() => names('/dead').at(-1) === 'later');
    expect(names('/dead').slice(-3)).toEqual([undefined, 'lost?', 'later']);
    expect(await read(dead)).toMatchObject({ status: '0', reason: null });
  });

  it('webhooks are not held up by a receiver that hangs, drips, lies about its length, or breaks off', async () => {
    const sender = service.app.get(WebhookSender);
    sender.timeoutMs = 4000;
    const drips: NodeJS.Timeout[] = [];
    receiver.answer('/hangs', () => undefined);
    receiver.answer('/drips', (_, socket) => {
      drips.push(setInterval(() => socket.writable && socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 20));
    });
    receiver.answer('/drips-body', (response) => {
      response.writeHead(200);
      drips.push(setInterval(() => response.write('x'), 20));
    });
    receiver.answer('/lies', (response) =>
      response.writeHead(200, { 'content-length': 1000 }).write('short'),
    );
    receiver.answer('/endless', (response) => {
      response.writeHead(200);
      drips.push(setInterval(() => response.write('x'.repeat(65_536)), 1));
    });
    receiver.answer('/switches', (_, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tunnel\r\nConnection: Upgrade\r\n\r\nmore'),
    );
    receiver.answer('/breaks', (_, socket) => socket.destroy());
    receiver.answer('/garbage', (_, socket) => socket.end('this is not HTTP\r\n\r\n'));
    const paths = '/hangs /drips /breaks /garbage /drips-body /lies /endless /switches'.split(' ');
    const hooks = [];
    for (const path of paths) hooks.push(await hook(path));
    const good = await hook('/beside');
    for (let n = 0; n < 5; n += 1) await aDept(api, { deptName: `n${n}` });
    await until(() => receiver.at('/beside').length === 5);
    const outcomes: unknown[] = [];
    for (const each of hooks) {
      await until(async () => (await deliveries(each)).length > 0);
      const first = (await deliveries(each)).at(-1)!;
      outcomes.push(first.statusCode ?? first.error);
    }
    expect(outcomes).toEqual([
      ...['TIMEOUT', 'TIMEOUT', 'ECONNRESET', 'HPE_INVALID_CONSTANT'],
      ...[200, 200, 200, 101],
    ]);
    expect((await deliveries(good)).every(({ statusCode }) => statusCode === 204)).toBe(true);
    const pings = await Promise.all(
      hooks.slice(-4).map(({ id }) => api.post(`${PATH}/${id}/ping`, undefined)),
    );
    expect(pings.map(({ body }) => (body.data as { statusCode: number }).statusCode)).toEqual([
      ...[200, 200, 200, 101],
    ]);
    for (const { id } of [...hooks, good]) await api.delete(`${PATH}/${id}`);
    // While the receivers still hang and drip: nothing but a connection that rests is kept.
    await until(async () => (await receiver.connections()) === 0);
    for (const drip of drips) clearInterval(drip);
    sender.timeoutMs = 10_000;
  });

  it('webhooks wait for no receivers of another top-level tenant, however many hang below it', async () => {
    const sender = service.app.get(WebhookSender);
    // Longer than the test: nothing that hangs makes room.
    sender.timeoutMs = 120_000;
    const held: (() => void)[] = [];
    receiver.answer('/held', (response) => held.push(() => response.writeHead(204).end()));
    const branch = [api, service.as(await aTenant(api))];
    for (const each of branch) for (let n = 0; n < 20; n += 1) await hook('/held', { kinds: ['dept'] }, each);
    const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
    await hook('/waits-for-none', {}, other);
    for (const each of branch) await aDept(each);
    await until(() => held.length === 16);
    for (let n = 0; n < 3; n += 1) {
      await aDept(other);
      await until(() => receiver.at('/waits-for-none').length === n + 1);
    }
    expect(held.length).toBe(16);
    receiver.answer('/held');
    for (const end of held) end();
    await until(() => receiver.at('/held').length === 40);
    sender.timeoutMs = 10_000;
  });

  describe('pings while receivers hang', () => {
    /** Ends the messages that have come to `/pinged`. */
    const ends: (() => void)[] = [];
    const ping = ({ id }: Hook, by = api) => by.post(`${PATH}/${id}/ping`, undefined);
    const finish = () => {
      for (const end of ends.splice(0)) end();
    };
    beforeEach(() => {
      receiver.answer('/pinged', (response) => ends.push(() => response.end()));
    });

    it('pings beyond a few are refused for the same branch while receivers hang', async () => {
      const child = service.as(await aTenant(api));
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      const fields = { status: '1' };
      const [own, belowOwn] = [await hook('/pinged', fields), await hook('/pinged', fields, child)];
      const foreign = await hook('/pinged', fields, other);
      const pings = [ping(own), ping(own), ping(belowOwn, child), ping(belowOwn, child)];
      await until(() => ends.length === 4);
      for (const answer of [await ping(own), await ping(belowOwn, child)]) {
        expect(answer.refusal.reason).toBe('WEBHOOKS_BUSY');
        expect(answer.headers['retry-after']).toBe('5');
      }
      pings.push(ping(foreign, other));
      await until(() => ends.length === 5);
      finish();
      expect((await Promise.all(pings)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    });

    it('a ping tells that its webhook was deleted meanwhile', async () => {
      const own = await hook('/pinged', { status: '1' });
      const pinged = ping(own);
      await until(() => ends.length === 1);
      await api.delete(`${PATH}/${own.id}`);
      finish();
      expect((await pinged).refusal.reason).toBe('WEBHOOK_NOT_FOUND');
    });
  });

  const DAY_MS = 24 * HOUR_MS;
  const day = (ms: number) => new Date(clock.now().getTime() + ms).toISOString().slice(0, 10);
  type Change = (root: ApiClient, path: string) => Promise<unknown>;
  const setTo =
    (fields: () => object): Change =>
    (root, path) =>
      root.patch(path, fields());
  it.each<[string, Change, Change]>([
    ['disabled', setTo(() => ({ status: '1' })), setTo(() => ({ status: '0' }))],
    ['expired', setTo(() => ({ endTime: day(-2 * DAY_MS) })), setTo(() => ({ endTime: null }))],
    ['not started', setTo(() => ({ startTime: day(2 * DAY_MS) })), setTo(() => ({ startTime: null }))],
    ['deleted', (root, path) => root.delete(path), (root, path) => root.post(`${path}/restore`, {})],
  ])(
    'webhooks of a tenant that is %s wait, and go on where they were when it is back',
    async (_, ends, begins) => {
      const root = service.as({ roles: ['superadmin'] });
      const own = await aTenant(root);
      const path = `/system/tenant-api/${own.id}`;
      const [ours, beside] = [`/paused-${own.id}`, `/beside-${own.id}`];
      await hook(ours, {}, service.as(own));
      const { id } = await hook(beside, { kinds: ['tenant'] }, root);
      await root.patch(path, { companyName: 'before' });
      await until(() => receiver.at(ours).length === 1);
      await ends(root, path);
      await until(() => receiver.at(beside).length === 2);
      expect(receiver.at(ours).length).toBe(1);
      await begins(root, path);
      await until(() => receiver.at(ours).length === 3 && receiver.at(beside).length === 3);
      const versions = (at: string) => receiver.at(at).map(({ message }) => message.data.version);
      expect(versions(ours)).toEqual(versions(beside));
      await root.delete(`${PATH}/${id}`);
    },
  );

  it('webhooks are not disabled for the days on which their tenant was away', async () => {
    const root = service.as({ roles: ['superadmin'] });
    const own = await aTenant(root);
    const admin = service.as({ tenantId: own.tenantId });
    receiver.answer('/away', (response) => response.writeHead(500).end());
    const { id } = await hook('/away', { kinds: ['dept'] }, admin);
    await aDept(admin);
    await until(() => receiver.at('/away').length === 1);
    await root.patch(`/system/tenant-api/${own.id}`, { status: '1' });
    clock.pass(72 * HOUR_MS);
    await root.patch(`/system/tenant-api/${own.id}`, { status: '0' });
    await until(() => receiver.at('/away').length === 2);
    receiver.answer('/away');
    await untilMuchLater(10_000, () => receiver.at('/away').length === 3, admin);
    expect((await admin.get(`${PATH}/${id}`)).body.data).toMatchObject({ status: '0', reason: null });
  });

  it('webhooks end when they are disabled or deleted, also in the midst of many changes', async () => {
    const [first, second] = [await hook('/ended'), await hook('/removed')];
    receiver.answer('/ended', (response) => setTimeout(() => response.writeHead(204).end(), 5));
    receiver.answer('/removed', (response) => setTimeout(() => response.writeHead(204).end(), 5));
    const lines = Array.from({ length: 300 }, (_, n) => `{"path":"i${n}"}\n`).join('');
    await api.post('/system/dept-api/import', lines, { 'content-type': 'application/x-ndjson' });
    await until(() => receiver.at('/ended').length > 3 && receiver.at('/removed').length > 3);
    await api.put(PATH, { webhookId: first.id, url: receiver.url('/ended'), status: '1' });
    await api.delete(`${PATH}/${second.id}`);
    const counts = () => [receiver.at('/ended').length, receiver.at('/removed').length];
    const at = counts();
    await hook('/other');
    await aDept(api);
    await until(() => receiver.at('/other').length === 1);
    // The one that was under way.
    expect(counts().every((count, index) => count <= at[index]! + 1)).toBe(true);
    expect((await api.get(`${PATH}/${second.id}/deliveries`)).refusal.reason).toBe('WEBHOOK_NOT_FOUND');
  });
});
