import { Resolver } from 'node:dns/promises';
import { WebhookSender } from '../../src/changes/webhook/webhook-sender';
import type { ApiClient } from '../../src/server/testing';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { deferred, until, type Deferred } from '../support/until';

const PATH = '/system/webhook-api';
const URL = 'https://receiver.example/hook';
const PUBLIC = '93.184.216.34';

describe('requests about webhooks that wait for the outside', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    jest.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue([PUBLIC]);
    jest.spyOn(Resolver.prototype, 'resolve6').mockResolvedValue([]);
    tenantId = await aTenantRow(service.dataSource);
    api = service.as({ tenantId });
  });
  afterEach(() => jest.restoreAllMocks());

  const create = (by = api) => by.post(PATH, { url: URL, status: '1' });
  const idOf = async (by = api) => ((await create(by)).body.data as { id: number }).id;

  it('pings beyond a few are refused for the same branch while receivers hang', async () => {
    const sender = service.app.get(WebhookSender);
    const ends: (() => void)[] = [];
    jest.spyOn(sender, 'ping').mockImplementation(
      () =>
        new Promise((resolve) => {
          ends.push(() => {
            const outcome = { statusCode: 200, error: null, durationMs: 1, sentAt: new Date() };
            resolve({ messageId: 'msg_ping_1', ...outcome });
          });
        }),
    );
    const below = { tenantParent: tenantId, ancestors: `0,000000,${tenantId}`, depth: 3 };
    const child = service.as({ tenantId: await aTenantRow(service.dataSource, below) });
    const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
    const ping = (id: number, by: ApiClient) => by.post(`${PATH}/${id}/ping`, undefined);
    const [own, belowOwn, foreign] = [await idOf(), await idOf(child), await idOf(other)];
    const pings = [ping(own, api), ping(own, api), ping(belowOwn, child), ping(belowOwn, child)];
    await until(() => ends.length === 4);
    for (const answer of [await ping(own, api), await ping(belowOwn, child)]) {
      expect(answer.refusal.reason).toBe('WEBHOOKS_BUSY');
      expect(answer.headers['retry-after']).toBe('5');
    }
    pings.push(ping(foreign, other));
    await until(() => ends.length === 5);
    for (const end of ends) end();
    expect((await Promise.all(pings)).every(({ status }) => status === 200)).toBe(true);
  });

  it('a ping tells that its webhook was deleted meanwhile', async () => {
    const id = await idOf();
    const held = deferred();
    const ping = jest.spyOn(service.app.get(WebhookSender), 'ping').mockImplementation(async () => {
      await held.promise;
      const outcome = { statusCode: 200, error: null, durationMs: 1, sentAt: new Date() };
      return { messageId: 'msg_ping_1', ...outcome };
    });
    const pinged = api.post(`${PATH}/${id}/ping`, undefined);
    await until(() => ping.mock.calls.length === 1);
    await api.delete(`${PATH}/${id}`);
    held.resolve();
    expect((await pinged).refusal.reason).toBe('WEBHOOK_NOT_FOUND');
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
      const below = { tenantParent: tenantId, ancestors: `0,000000,${tenantId}`, depth: 3 };
      const child = service.as({ tenantId: await aTenantRow(service.dataSource, below) });
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      const waiting = [create(), create(), create(), create(child), create(child)];
      await until(() => asked.length === 4);
      waiting.push(create(other));
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
      const slow = create(by);
      await until(() => asked.length === 1);
      expect((await by.get(PATH)).status).toBe(200);
      asked[0]!.resolve([PUBLIC]);
      expect((await slow).status).toBe(200);
      await small.leave();
    });
  });
});
