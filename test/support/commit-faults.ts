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

type Query = (sql: string, ...rest: unknown[]) => Promise<unknown>;

function replaceNext(
  dataSource: DataSource,
  statement: RegExp,
  replace: (run: () => Promise<unknown>) => Promise<unknown>,
): void {
  const create = dataSource.createQueryRunner.bind(dataSource);
  // Where there is a subscriber, prepared statements pass the runner too.
  dataSource.subscribers.push({});
  let isDone = false;
  dataSource.createQueryRunner = (mode): QueryRunner => {
    const runner = create(mode);
    const query = runner.query.bind(runner) as Query;
    runner.query = ((sql, ...rest) => {
      if (isDone || !statement.test(sql)) return query(sql, ...rest);
      isDone = true;
      dataSource.createQueryRunner = create;
      dataSource.subscribers.pop();
      return replace(() => query(sql, ...rest));
    }) as Query as QueryRunner['query'];
    return runner;
  };
}

/** Lets the next statement like this be done without an answer; gives whether that has happened. */
export function loseNextAnswer(dataSource: DataSource, statement: RegExp): () => boolean {
  let isLost = false;
  replaceNext(dataSource, statement, async (run) => {
    await run();
    isLost = true;
    throw ERRORS.unheard();
  });
  return () => isLost;
}

/** Holds the next statement like this back until it is let go. */
export function holdNext(
  dataSource: DataSource,
  statement: RegExp,
): { readonly reached: Promise<void>; readonly letGo: () => void } {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const reached = new Promise<void>((resolve) => {
    replaceNext(dataSource, statement, async (run) => {
      resolve();
      await held;
      return run();
    });
  });
  return { reached, letGo };
}
