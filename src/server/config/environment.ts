import { existsSync } from 'node:fs';
import type { CeilingOptions } from '../../tenant/ceilings';
import { parseDatabaseUrl, type DatabaseLocation } from '../../database/database-url';

export const DEFAULT_DATABASE_URL = 'sqlite:./data/tenantry.sqlite';
export const DEFAULT_TIME_ZONE = 'Asia/Shanghai';

/** Reads `.env` (what is already set wins), then the environment. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  // An empty variable is how compose files and shells say "not set".
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}

interface DatabaseSettings {
  readonly location: DatabaseLocation;
  readonly timeZone: string;
  readonly ceilings: CeilingOptions;
}

/**
 * What commands need that only look at a database. They run in hosts, which have neither the other settings nor the package that
 * checks them.
 */
export function loadDatabaseSettings(): DatabaseSettings {
  const environment = readEnvironment();
  const { DATABASE_URL = DEFAULT_DATABASE_URL, TIME_ZONE: timeZone = DEFAULT_TIME_ZONE } = environment;
  const ceilings = {
    packages: environment.PACKAGE_CEILING === 'on',
    quotas: environment.QUOTA_CEILING === 'on',
  };
  try {
    return { location: parseDatabaseUrl(DATABASE_URL), timeZone, ceilings };
  } catch (error) {
    throw new Error(`DATABASE_URL: ${(error as Error).message}`, { cause: error });
  }
}
