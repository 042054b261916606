import { existsSync, readFileSync } from 'node:fs';
import type { CeilingOptions } from '../../tenant/ceilings';
import { parseDatabaseUrl, type DatabaseLocation } from '../../database/database-url';

export const DEFAULT_DATABASE_URL = 'sqlite:./data/tenantry.sqlite';
export const DEFAULT_TIME_ZONE = 'Asia/Shanghai';

/** Settings that may stand in files, as orchestrators mount secrets: `<name>_FILE` is the path. */
const IN_FILES = ['DATABASE_URL', 'JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'ADMIN_PASSWORD', 'REDIS_URL'];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `.env` (what is already set wins), then the environment. */
export function readEnvironment(): Environment {
  if (existsSync('.env')) process.loadEnvFile('.env');
  // An empty variable is how compose files and shells say "not set".
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}

/** Adds the settings that stand in files, without the newline at the end; gives what is wrong, by the names of the paths. */
export function withFiles(settings: Environment): { settings: Environment; problems: [string, string][] } {
  const read: Record<string, string> = {};
  const problems: [string, string][] = [];
  for (const name of IN_FILES) {
    const [setting, file] = [`${name}_FILE`, settings[`${name}_FILE`]];
    if (file === undefined) continue;
    if (settings[name] !== undefined) problems.push([setting, `is set, and ${name} too; set one of them`]);
    try {
      read[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (read[name] === '') problems.push([setting, `the file ${file} is empty`]);
    } catch (error) {
      problems.push([setting, `the file cannot be read (${(error as Error).message})`]);
    }
  }
  return { settings: { ...settings, ...read }, problems };
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
  const { settings: environment, problems } = withFiles(readEnvironment());
  for (const [name, problem] of problems)
    if (name === 'DATABASE_URL_FILE') throw new Error(`${name}: ${problem}`);
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
