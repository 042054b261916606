import { MOST_CONNECTIONS } from '../../database/dialect';
import type { Env } from '../config/env';

/** Connections to the database of a worker at least: a little more than requests in work. */
const LEAST_CONNECTIONS = 5;

/** What one of so many workers has of a limit of the whole service. */
export function partOf(limit: number, workers: number): number {
  return Math.ceil(limit / workers);
}

/**
 * The settings of one worker: of the limits that protect the machine and the database it has its share. Not of MAX_CONNECTIONS: the system
 * shares connections out unevenly, and those of a worker that died come to the others.
 */
export function shareOf(env: Env): Env {
  const part = (limit: number): number => partOf(limit, env.WORKERS);
  const { DATABASE_URL: location, MAX_IN_WORK, MAX_WAITING } = env;
  const connections = Math.max(part(MOST_CONNECTIONS), LEAST_CONNECTIONS);
  return {
    ...env,
    DATABASE_URL: location.kind === 'sqlite' ? location : { ...location, connections },
    MAX_IN_WORK: part(MAX_IN_WORK),
    MAX_WAITING: part(MAX_WAITING),
  };
}
