import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, ApiClient } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { loseNextAnswer, nextCommits, type Fate } from '../support/commit-faults';
import { freshTenant } from '../support/fresh-tenant';
import { commit, ledgerOf, numbersOf, outcome, refund, release, reserve, use } from '../support/quotas';
import { ServiceUnderTest } from '../support/service-under-test';

type Deed = readonly [name: string, send: (api: ApiClient) => Promise<Answer>];

describe('a quota takes one effect for each key', () => {
  const service = ServiceUnderTest.use({ LOG_LEVEL: 'error' });
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => {
    ({ tenantId, api } = await freshTenant(service, {}, { riskReport: 20 }));
    await use(api, 'spent', 5);
    await reserve(api, 'kept', 4);
    await reserve(api, 'not needed', 3);
  });

  const deeds: readonly Deed[] = [
    ['use', (client) => use(client, 'k', 2)],
    ['reserve', (client) => reserve(client, 'r', 2)],
    ['commit', (client) => commit(client, 'kept', 3)],
    ['release', (client) => release(client, 'not needed')],
    ['refund', (client) => refund(client, 'spent', 'back', 1)],
  ];
  /** After all of them, each once. */
  const DONE = [20, 9, 2, 9];

  it.each<Fate>(['conflict', 'unheard'])(
    'a quota takes one effect for each key when its COMMIT ends in: %s',
    async (fate) => {
      for (const [name, send] of deeds) {
        const left = nextCommits(service.dataSource, fate);
        expect([name, outcome(await send(api)), left()]).toEqual([name, 200, 0]);
      }
      expect(await numbersOf(api)).toEqual(DONE);
      expect(await ledgerOf(api)).toHaveLength(4);
    },
  );

  it('a quota takes one effect for each key when one of its statements is done and not answered', async () => {
    for (const statement of [/UPDATE \S*tenantry_quota\W/, /INSERT INTO \S*tenantry_quota_entry/]) {
      const isLost = loseNextAnswer(service.dataSource, statement);
      expect(outcome(await use(api, String(statement)))).toBe(200);
      expect(isLost()).toBe(true);
    }
    expect(await numbersOf(api)).toEqual([20, 7, 7, 6]);
  });

  it('a quota takes one effect for each key when its process dies between the commit and the answer', async () => {
    const flag = join(service.database.folder, 'die');
    const hook = join(__dirname, '..', 'support', 'kill-after-commit.js');
    const env = { NODE_OPTIONS: `--require ${hook}`, DIE_AFTER_COMMIT: flag };
    const doomed = await ChildService.start(service.database, env);
    const once = { 'idempotency-key': 'the same request' };
    writeFileSync(flag, '');
    await expect(use(doomed.as({ tenantId }).with(once), 'k', 2)).rejects.toThrow();
    rmSync(flag);
    await doomed.ended();
    for (const [name, send] of deeds)
      expect([name, outcome(await send(api.with(once)))]).toEqual([name, 200]);
    expect(await numbersOf(api)).toEqual(DONE);
    expect(await ledgerOf(api)).toHaveLength(4);
  });
});
