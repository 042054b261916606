import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { CommitRecord } from '../../src/database/commit-record.entity';
import { ServiceUnderTest } from '../support/service-under-test';

/** Units whose work waits for something else halfway, as a host's own directory of users may. */
describe('units of work that give way to each other', () => {
  const service = ServiceUnderTest.use();
  let units: UnitOfWork;

  beforeAll(() => {
    units = service.app.get(UnitOfWork);
  });

  const nothing = () => Promise.resolve();
  const write = (manager: EntityManager, unitId: string) =>
    manager.insert(CommitRecord, { unitId, createdAt: new Date() });
  const written = async (prefix: string) => {
    const rows = await service.dataSource.manager.find(CommitRecord);
    return rows.map(({ unitId }) => unitId).filter((id) => id.startsWith(prefix));
  };

  it('do not mix: a rollback takes only its own work, and plain writes stay outside', async () => {
    const work = async (n: number) => {
      await units.run(`mixed ${n}`, nothing, async (manager) => {
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

  it('show nobody what is not committed', async () => {
    await units.run('hidden', nothing, async (manager) => {
      await write(manager, 'hidden');
      await nextTurn();
      expect(await written('hidden')).toEqual([]);
      expect(await manager.existsBy(CommitRecord, { unitId: 'hidden' })).toBe(true);
    });
    expect(await written('hidden')).toEqual(['hidden']);
  });
});
