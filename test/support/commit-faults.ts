import type { DataSource, QueryRunner } from 'typeorm';

/** What happens to a COMMIT: it is not done because of a conflict, or it is done and nobody hears of it. */
export type Fate = 'conflict' | 'unheard';

const ERRORS = {
  conflict: () => Object.assign(new Error('Deadlock found'), { errno: 1213 }),
  unheard: () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
};

/** Lets the next transactions of a DataSource end like this, one after the other; gives how many are still to come. */
export function nextCommits(dataSource: DataSource, ...fates: Fate[]): () => number {
  const create = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode): QueryRunner => {
    const runner = create(mode);
    const commit = runner.commitTransaction.bind(runner);
    runner.commitTransaction = async () => {
      const fate = fates.shift();
      if (fates.length === 0) dataSource.createQueryRunner = create;
      if (fate !== 'conflict') await commit();
      if (fate) throw ERRORS[fate]();
    };
    return runner;
  };
  return () => fates.length;
}
