import { parseEnv } from '../config/env';
import { deathsInARow } from './primary';
import { shareOf } from './shared-limits';

describe('a worker that dies', () => {
  it('a worker that dies counts with those before it, until one has lived for half a minute', () => {
    expect(deathsInARow(0, 10)).toBe(1);
    expect(deathsInARow(4, 29_999)).toBe(5);
    expect(deathsInARow(4, 30_000)).toBe(1);
  });
});

describe('the share of a worker', () => {
  const shareWith = (settings: Record<string, string>) =>
    shareOf(parseEnv({ DATABASE_URL: 'postgres://me:pw@db/tenantry', ...settings }));

  it('workers share the limits that protect the machine and the database', () => {
    expect(shareWith({ WORKERS: '2' })).toMatchObject({
      ...{ MAX_IN_WORK: 8, MAX_WAITING: 64, MAX_CONNECTIONS: 5000 },
      DATABASE_URL: { connections: 10 },
    });
    expect(shareWith({ WORKERS: '2', MAX_IN_WORK: '3' }).MAX_IN_WORK).toBe(2);
  });

  it('a worker of many has enough to be busy while the database answers', () => {
    expect(shareWith({ WORKERS: '16' })).toMatchObject({ MAX_IN_WORK: 4, DATABASE_URL: { connections: 5 } });
  });
});
