import type { Env } from '../config/env';

/** Connections to the database of the whole service, and of a worker at least: a little more than requests in work. */
const POOL = { all: 20, worker: 5 };

/** The settings of one worker: of the limits that protect the machine and the database it has its share. */
export function shareOf(env: Env): Env {
  const part = (limit: number): number => Math.ceil(limit / env.WORKERS);
  const { DATABASE_URL: location, MAX_IN_WORK, MAX_WAITING, MAX_CONNECTIONS } = env;
  const connections = Math.max(part(POOL.all), POOL.worker);
  return {
    ...env,
    DATABASE_URL: location.kind === 'sqlite' ? location : { ...location, connections },
    MAX_IN_WORK: part(MAX_IN_WORK),
    MAX_WAITING: part(MAX_WAITING),
    MAX_CONNECTIONS: part(MAX_CONNECTIONS),
  };
}
