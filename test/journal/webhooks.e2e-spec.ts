import { Cleanup } from '../../src/database/cleanup';
import { Resolver } from 'node:dns/promises';
import { TenantryCommit } from '../../src/database/commit-log';
import { TenantryDelivery, TenantryPosition, TenantryWebhook } from '../../src/changes/subscription.entity';
import { aDept, type ApiClient, aTenant } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { HandClock } from '../support/hand-clock';
import { Receiver } from '../support/receiver';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { deferred, until, type Deferred } from '../support/until';

const PATH = '/system/webhook-api';
const URL = 'https://receiver.example/hook';
const PUBLIC = '93.184.216.34';

/** What names lead to, until it is said otherwise. */
function namesLeadTo(v4: string[], v6: string[] = []): void {
  jest.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue(v4);
  jest.spyOn(Resolver.prototype, 'resolve6').mockResolvedValue(v6);
}

describe('webhooks of a tenant', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    namesLeadTo([PUBLIC]);
    ({ tenantId, api } = await freshTenant(service, { username: 'ann' }));
  });
  afterEach(() => jest.restoreAllMocks());

  const create = (fields: object = {}, by = api) => by.post(PATH, { url: URL, status: '1', ...fields });
  const idOf = async (fields: object = {}, by = api) =>
    ((await create(fields, by)).body.data as { id: number }).id;
  const rowOf = (webhookId: number) => service.dataSource.manager.findOneBy(TenantryWebhook, { webhookId });

  it('a webhook is made with a secret that is shown once, and read, listed, replaced and deleted', async () => {
    const made = await create({ kinds: ['tenant', 'dept', 'dept'] });
    const { id, secret } = made.body.data as { id: number; secret: string };
    expect(made.headers.location).toBe(`${PATH}/${id}`);
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64').length).toBe(32);
    const read = await api.get(`${PATH}/${id}`);
    expect(read.body.data).toMatchObject({
      ...{ webhookId: id, url: URL, kinds: ['dept', 'tenant'], status: '1', reason: null },
      ...{ createBy: 'ann', updateBy: '', updateTime: null },
    });
    await api.put(PATH, { webhookId: id, url: `${URL}/2`, status: '0' });
    const list = await api.get(PATH);
    expect(list.body.data).toMatchObject({
      rows: [
        {
          webhookId: id,
          url: `${URL}/2`,
          kinds: ['dept', 'tenant', 'user', 'key'],
          status: '0',
          updateBy: 'ann',
        },
      ],
      hasMore: false,
    });
    expect((await rowOf(id))?.secret).toBe(secret);
    for (const { text } of [read, list, await api.get(`${PATH}/${id}/deliveries`)])
      expect(text).not.toContain(secret.slice(6));
    expect((await api.delete(`${PATH}/${id}`)).status).toBe(200);
    expect((await api.get(`${PATH}/${id}`)).refusal.reason).toBe('WEBHOOK_NOT_FOUND');
    expect([
      await rowOf(id),
      await service.dataSource.manager.countBy(TenantryPosition, { webhookId: id }),
    ]).toEqual([null, 0]);
  });

  it('a webhook is made once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'hook' };
    const post = () => api.post(PATH, { url: URL, status: '1' }, headers);
    const [first, second] = [await post(), await post()];
    const { id, secret } = first.body.data as { id: number; secret: string };
    expect(second.body.data).toEqual({ id });
    expect([second.headers['idempotent-replayed'], second.headers.location]).toEqual([
      'true',
      `${PATH}/${id}`,
    ]);
    expect(await service.dataSource.manager.countBy(TenantryWebhook, { tenantId })).toBe(1);
    // What is kept to recognise the request has no secret in it.
    const kept = await service.dataSource.manager.find(TenantryCommit);
    const results = kept.map(({ result }) => result ?? '').join();
    expect(results).toContain(`"id":${id},`);
    expect(results).not.toContain('whsec_');
    expect(results).not.toContain(secret.slice(6));
  });

  it('a webhook is changed in part by a patch, and by one who has seen the last change', async () => {
    const id = await idOf({ kinds: ['dept'] });
    const path = `${PATH}/${id}`;
    const read = await api.get(path);
    expect(read.headers.etag).toBe('"0"');
    const patched = await api.patch(path, { url: `${URL}/2` }, { 'if-match': '"0"' });
    expect([patched.status, patched.headers.etag]).toEqual([200, '"1"']);
    expect((await api.get(path)).body.data).toMatchObject({
      ...{ url: `${URL}/2`, kinds: ['dept'], status: '1', updateBy: 'ann' },
    });
    for (const answer of [
      await api.patch(path, { status: '0' }, { 'if-match': '"0"' }),
      await api.put(PATH, { webhookId: id, url: URL }, { 'if-match': '"0"' }),
      await api.delete(path, { 'if-match': '"0"' }),
    ])
      expect(answer.refusal.reason).toBe('STALE');
    await api.patch(path, { kinds: null, webhookId: id });
    const after = await api.get(path);
    expect(after.body.data).toMatchObject({ kinds: ['dept', 'tenant', 'user', 'key'], status: '1' });
    expect(after.headers.etag).toBe('"2"');
    for (const fields of [{ url: null }, { url: 'ftp://x' }, { kinds: [] }, { webhookId: id + 1 }])
      expect((await api.patch(path, fields)).refusal.reason).toBe('INVALID_INPUT');
    expect((await api.delete(path, { 'if-match': '"2"' })).status).toBe(200);
  });

  it('a webhook does not look a name up that is not changed', async () => {
    const id = await idOf();
    namesLeadTo([]);
    expect((await api.patch(`${PATH}/${id}`, { kinds: ['user'] })).status).toBe(200);
    expect((await api.patch(`${PATH}/${id}`, { url: URL })).refusal.reason).toBe('INVALID_INPUT');
  });

  it('a tenant has at most 20 webhooks, also when many are made at once', async () => {
    for (let made = 0; made < 18; made += 1) await create();
    await Promise.all(Array.from({ length: 6 }, () => create()));
    const count = () => service.dataSource.manager.countBy(TenantryWebhook, { tenantId });
    while ((await count()) < 20) await create();
    expect((await create()).refusal.reason).toBe('WEBHOOK_LIMIT');
    expect(await count()).toBe(20);
    const page = (await api.get(`${PATH}?limit=15`)).body.data as { rows: unknown[]; nextCursor: string };
    const rest = (await api.get(`${PATH}?limit=15&cursor=${page.nextCursor}`)).body.data;
    expect([page.rows.length, (rest as { rows: unknown[] }).rows.length]).toEqual([15, 5]);
  });

  it('a webhook follows journals by their kinds, those that are new to it from now on', async () => {
    const id = await idOf({ kinds: ['dept'] });
    const journals = async () =>
      (await service.dataSource.manager.findBy(TenantryPosition, { webhookId: id }))
        .map(({ journal }) => journal)
        .sort();
    expect(await journals()).toEqual([tenantId]);
    await api.put(PATH, { webhookId: id, url: URL, kinds: ['tenant', 'user'], status: '1' });
    expect(await journals()).toEqual(['000000', tenantId].sort());
    await api.put(PATH, { webhookId: id, url: URL, kinds: ['tenant'], status: '1' });
    expect(await journals()).toEqual(['000000']);
  });

  it.each<[string, object]>([
    ['no address', { url: null }],
    ['not an address', { url: 'receiver.example' }],
    ['another scheme', { url: 'ftp://receiver.example' }],
    ['a script', { url: 'javascript:alert(1)' }],
    ['a password', { url: 'https://a:b@receiver.example' }],
    ['a user', { url: 'https://a@receiver.example' }],
    ['a long address', { url: `https://receiver.example/${'x'.repeat(2048)}` }],
    ['NUL', { url: 'https://receiver.example/\0' }],
    ['a number', { url: 1 }],
    ['no kinds', { kinds: [] }],
    ['an unknown kind', { kinds: ['dept', 'secret'] }],
    ['kinds as a text', { kinds: 'dept' }],
    ['an unknown status', { status: '2' }],
  ])('a webhook is refused with %s', async (_, fields) => {
    expect((await create(fields)).refusal.reason).toBe('INVALID_INPUT');
    expect(await service.dataSource.manager.countBy(TenantryWebhook, { tenantId })).toBe(0);
  });

  describe('public addresses only (SSRF)', () => {
    // All ways to write an address; which addresses are public is told by public-address.spec.ts.
    const hosts =
      '127.0.0.1 127.1 2130706433 0x7f.0.0.1 0177.0.0.1 ①②⑦.0.0.1 169.254.169.254 [::ffff:127.0.0.1] [::1]';
    it.each(hosts.split(' '))('a webhook does not lead to %s', async (host) => {
      const answer = await create({ url: `http://${host}/latest/meta-data/` });
      expect(answer.refusal).toMatchObject({ reason: 'INVALID_INPUT', fields: [{ field: 'url' }] });
    });

    it.each<[string, string[], string[]]>([
      ['a private address', ['10.0.0.1'], []],
      ['a public and a private address', [PUBLIC, '127.0.0.1'], []],
      ['a public address and a private one in IPv6', [PUBLIC], ['::1']],
      ['nothing', [], []],
    ])('a webhook does not lead to a name of %s', async (_, v4, v6) => {
      namesLeadTo(v4, v6);
      expect((await create()).refusal).toMatchObject({ reason: 'INVALID_INPUT' });
      const id = await (namesLeadTo([PUBLIC]), idOf());
      namesLeadTo(v4, v6);
      expect((await api.put(PATH, { webhookId: id, url: URL })).refusal.reason).toBe('INVALID_INPUT');
    });

    it('a webhook whose name leads elsewhere later connects to nothing', async () => {
      const receiver = await Receiver.start();
      const { port } = new globalThis.URL(receiver.url());
      const url = `http://receiver.example:${port}/rebound`;
      const id = await idOf({ url, kinds: ['dept'], status: '0' });
      namesLeadTo(['127.0.0.1']);
      await aDept(api);
      expect((await api.post(`${PATH}/${id}/ping`, undefined)).body.data).toMatchObject({
        statusCode: null,
        error: 'ADDRESS_NOT_PUBLIC',
      });
      const rows = () => service.dataSource.manager.findBy(TenantryDelivery, { webhookId: id });
      await until(async () => (await rows()).length >= 2);
      expect((await rows()).every(({ error }) => error === 'ADDRESS_NOT_PUBLIC')).toBe(true);
      // An address that was stored by a service that allowed it.
      await service.dataSource.manager.update(
        TenantryWebhook,
        { webhookId: id },
        { url: receiver.url('/stored') },
      );
      expect((await api.post(`${PATH}/${id}/ping`, undefined)).body.data).toMatchObject({
        error: 'ADDRESS_NOT_PUBLIC',
      });
      expect(receiver.received).toEqual([]);
      await api.delete(`${PATH}/${id}`);
      await receiver.stop();
    });

    it('a webhook connects to the same name where private addresses are allowed', async () => {
      const open = await ServiceUnderTest.on(service.database, { WEBHOOK_ALLOW_PRIVATE: 'on' });
      const receiver = await Receiver.start();
      const id = await idOf({ url: receiver.url('/ping') }, open.as({ tenantId }));
      const ping = await open.as({ tenantId }).post(`${PATH}/${id}/ping`, undefined);
      expect(ping.body.data).toMatchObject({ statusCode: 204, error: null, attempt: 1 });
      expect(receiver.received.map(({ message }) => message.type)).toEqual(['ping']);
      await receiver.stop();
      const gone = await open.as({ tenantId }).post(`${PATH}/${id}/ping`, undefined);
      expect(gone.body.data).toMatchObject({ statusCode: null, error: 'ECONNREFUSED' });
      const list = (await open.as({ tenantId }).get(`${PATH}/${id}/deliveries?limit=1`)).body.data as {
        rows: unknown[];
        nextCursor: string;
      };
      expect(list).toMatchObject({ rows: [gone.body.data], hasMore: true });
      const next = await open
        .as({ tenantId })
        .get(`${PATH}/${id}/deliveries?limit=1&cursor=${list.nextCursor}`);
      expect(next.body.data).toMatchObject({ rows: [ping.body.data], hasMore: false });
      await open.leave();
    });
  });

  describe('while a name server is silent', () => {
    /** Queries that are answered by a cancel alone. */
    function nobodyAnswers(): Deferred<string[]>[] {
      const asked: Deferred<string[]>[] = [];
      const ask = () => {
        const answer = deferred<string[]>();
        asked.push(answer);
        return answer.promise;
      };
      jest.spyOn(Resolver.prototype, 'resolve4').mockImplementation(ask);
      return asked;
    }

    it('a name of a webhook is looked up for a limited time', async () => {
      const asked = nobodyAnswers();
      jest.spyOn(Resolver.prototype, 'cancel').mockImplementation(() => {
        for (const { reject } of asked) reject(new Error('cancelled'));
      });
      expect((await create()).refusal).toMatchObject({ reason: 'INVALID_INPUT', fields: [{ field: 'url' }] });
    });

    it('few names of a branch are looked up at a time, and those of others beside them', async () => {
      const asked = nobodyAnswers();
      const child = service.as(await aTenant(api));
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      const waiting = [create(), create(), create(), create({}, child), create({}, child)];
      await until(() => asked.length === 4);
      waiting.push(create({}, other));
      await until(() => asked.length === 5);
      for (const { resolve } of asked) resolve([PUBLIC]);
      await until(() => asked.length === 6);
      asked[5]!.resolve([PUBLIC]);
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([
        200, 200, 200, 200, 200, 200,
      ]);
    });

    it('a look-up of a name holds no place of work', async () => {
      const small = await ServiceUnderTest.on(service.database, {
        MAX_IN_WORK: '1',
        WEBHOOK_ALLOW_PRIVATE: 'off',
      });
      const by = small.as({ tenantId });
      const asked = nobodyAnswers();
      const slow = create({}, by);
      await until(() => asked.length === 1);
      expect((await by.get(PATH)).status).toBe(200);
      asked[0]!.resolve([PUBLIC]);
      expect((await slow).status).toBe(200);
      await small.leave();
    });
  });

  it('a webhook needs https in production', async () => {
    const strict = await ServiceUnderTest.on(service.database, { NODE_ENV: 'production' });
    const own = strict.as({ tenantId });
    expect((await create({ url: 'http://receiver.example' }, own)).refusal).toMatchObject({
      reason: 'INVALID_INPUT',
      fields: [{ field: 'url' }],
    });
    expect((await create({}, own)).status).toBe(200);
    await strict.leave();
  });

  it('the list of deliveries is kept for 30 days', async () => {
    const id = await idOf();
    const row = {
      webhookId: id,
      tenantId,
      messageId: 'm',
      attempt: 1,
      statusCode: 200,
      error: null,
      durationMs: 1,
    };
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 86_400_000);
    await service.dataSource.manager.insert(TenantryDelivery, { ...row, sentAt: daysAgo(31) });
    await service.dataSource.manager.insert(TenantryDelivery, {
      ...row,
      messageId: 'kept',
      sentAt: daysAgo(29),
    });
    await service.app.get(Cleanup).run();
    const left = await service.dataSource.manager.findBy(TenantryDelivery, { webhookId: id });
    expect(left.map(({ messageId }) => messageId)).toEqual(['kept']);
  });
});
