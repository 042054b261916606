import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { TenantryCommit } from '../../src/database/commit-log';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { TenantryDept } from '../../src/dept/dept.entity';
import { aDept } from '../../src/server/testing';
import { times } from '../support/long-run';
import { aTenantRow } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

describe('concurrent units of work', () => {
  const service = ServiceUnderTest.use();

  it('100 writes of one tenant at once, half of them refused, keep every acknowledged write and no refused one', async () => {
    for (let round = 0; round < times(5, 2); round += 1) {
      const tenantId = await aTenantRow(service.dataSource);
      const api = service.as({ tenantId });
      const disabled = await aDept(api, { status: '1' });
      const names = Array.from({ length: 100 }, (_, n) => `${n % 2 ? 'refused' : 'kept'} ${n}`);
      const answers = await Promise.all(
        names.map((deptName, n) => api.post(PATH, { deptName, parentId: n % 2 ? disabled : 0 })),
      );
      const told = (status: number) => names.filter((_, n) => answers[n]!.status === status);
      // On a busy machine the last ones have waited for their turn for too long: they are refused, too.
      expect([...told(200), ...told(409), ...told(503)].sort()).toEqual([...names].sort());
      expect(told(200).every((name) => name.startsWith('kept'))).toBe(true);
      expect(told(409).every((name) => name.startsWith('refused'))).toBe(true);
      expect(Math.min(told(200).length, told(409).length)).toBeGreaterThan(10);
      const rows = await service.dataSource.manager.findBy(TenantryDept, { tenantId });
      const kept = rows.map(({ deptName }) => deptName).filter((name) => name !== '');
      expect(kept.sort()).toEqual(told(200).sort());
    }
  });

  it('readers never see a move that is not committed', async () => {
    const api = service.as();
    const [a, b] = [await aDept(api, { deptName: 'a' }), await aDept(api)];
    const child = await aDept(api, { parentId: a });
    const progress = { moving: true };
    const moves = (async () => {
      for (let n = 0; n < 50; n += 1) await api.put(PATH, { deptId: a, parentId: n % 2 ? 0 : b });
      progress.moving = false;
    })();
    while (progress.moving) {
      const seen = (await api.get(`${PATH}/${child}`)).body.data as TenantryDept;
      expect([`0,${a}`, `0,${b},${a}`]).toContain(seen.ancestors);
    }
    await moves;
  });

  const nothing = () => Promise.resolve();
  const write = (manager: EntityManager, unitId: string) =>
    manager.insert(TenantryCommit, { unitId, createdAt: new Date() });
  const written = async (prefix: string) => {
    const rows = await service.dataSource.manager.find(TenantryCommit);
    return rows.map(({ unitId }) => unitId).filter((id) => id.startsWith(prefix));
  };

  it('a rollback takes only the work of its own unit, and plain writes stay outside', async () => {
    const work = async (n: number) => {
      await service.app.get(UnitOfWork).run(`mixed ${n}`, nothing, async ({ manager }) => {
        await write(manager, `mixed ${n} a`);
        for (let turn = 0; turn < 5; turn += 1) await nextTurn();
        await write(manager, `mixed ${n} b`);
        if (n % 2 === 0) throw new Error('refused');
      });
    };
    const plain = async (n: number) => {
      await nextTurn();
      await write(service.dataSource.manager, `mixed plain ${n}`);
    };
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => [work(n), plain(n)]).flat(),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    const expected = Array.from({ length: 40 }, (_, n) => [
      `mixed plain ${n}`,
      ...(n % 2 === 0 ? [] : [`mixed ${n} a`, `mixed ${n} b`]),
    ]);
    expect((await written('mixed')).sort()).toEqual(expected.flat().sort());
  });

  it('a unit of work shows nobody what is not committed', async () => {
    await service.app.get(UnitOfWork).run('hidden', nothing, async ({ manager }) => {
      await write(manager, 'hidden');
      await nextTurn();
      expect(await written('hidden')).toEqual([]);
      expect(await manager.existsBy(TenantryCommit, { unitId: 'hidden' })).toBe(true);
    });
    expect(await written('hidden')).toEqual(['hidden']);
  });
});
