import { existsSync } from 'node:fs';
import { parseDatabaseUrl } from '../../database/database-url';
import {
  address,
  oneOf,
  optional,
  origins,
  proxies,
  readAll,
  text,
  textThat,
  usually,
  wholeNumber,
  type ReadBy,
} from './readers';

const ON_OR_OFF = oneOf('on', 'off');
const REQUESTS = wholeNumber(1, 100_000, 'must be a number of requests');
const PER_MINUTE = wholeNumber(1, 999_999_999, 'must be a number of requests');

const readers = {
  NODE_ENV: usually('development', oneOf('development', 'production', 'test')),
  HOST: usually('127.0.0.1', text),
  PORT: usually(3000, wholeNumber(0, 65_535, 'must be a port number')),
  DATABASE_URL: (said = 'sqlite:./data/tenantry.sqlite') => parseDatabaseUrl(said),
  DATA_DIR: usually('./data', text),
  JWT_SECRET: optional(
    textThat((secret) => Buffer.byteLength(secret) >= 32, 'must be at least 32 bytes long'),
  ),
  JWT_ISSUER: usually('tenantry', text),
  JWT_AUDIENCE: usually('tenantry', text),
  LOCAL_ACCOUNTS: usually('on', ON_OR_OFF),
  JWT_JWKS_URI: optional(address(['http:', 'https:'], 'must be an http(s) address')),
  JWT_TENANT_CLAIM: usually('tenantId', text),
  JWT_ROLES_CLAIM: usually('roles', text),
  JWT_USERNAME_CLAIM: usually('username', text),
  ADMIN_PASSWORD: optional(
    textThat(({ length }) => length >= 8 && length <= 128, 'must be 8 to 128 characters long'),
  ),
  TIME_ZONE: usually(
    'Asia/Shanghai',
    textThat(isTimeZone, 'must be an IANA time zone such as Asia/Shanghai'),
  ),
  HTTP_STATUS_MODE: usually('match-code', oneOf('match-code', 'always-200')),
  LOG_LEVEL: usually('info', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')),
  RATE_LIMIT: usually('on', ON_OR_OFF),
  RATE_LIMIT_LOGIN_ADDRESS: usually(60, PER_MINUTE),
  RATE_LIMIT_LOGIN_ACCOUNT: usually(20, PER_MINUTE),
  RATE_LIMIT_USER: usually(6000, PER_MINUTE),
  TRUST_PROXY: usually<number | string>(0, proxies),
  MAX_IN_WORK: usually(32, REQUESTS),
  MAX_WAITING: usually(128, REQUESTS),
  MAX_WAIT_MS: usually(2000, wholeNumber(1, 60_000, 'must be a number of milliseconds')),
  MAX_CONNECTIONS: usually(5000, wholeNumber(1, 1_000_000, 'must be a number of connections')),
  REDIS_URL: optional(address(['redis:', 'rediss:'], 'must be a redis:// address')),
  METRICS_PORT: optional(wholeNumber(1, 65_535, 'must be a port number')),
  METRICS_HOST: usually('127.0.0.1', text),
  CORS_ORIGINS: usually<readonly string[]>([], origins),
  DOCS: optional(ON_OR_OFF),
  SHUTDOWN_DRAIN_MS: usually(500, wholeNumber(0, 60_000, 'must be milliseconds, at most 60000')),
};

/** The validated configuration. */
export type Env = Readonly<Omit<ReadBy<typeof readers>, 'DOCS'> & { DOCS: 'on' | 'off' }>;

/** Every problem of an environment, in one message. */
export class BadEnvironment extends Error {
  constructor(problems: readonly string[]) {
    super(['The configuration is not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'BadEnvironment';
  }
}

export function parseEnv(source: Record<string, string | undefined>): Env {
  // An empty variable is how compose files and shells say "not set".
  const set = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  );
  const { values, problems } = readAll(readers, set);
  if (values.NODE_ENV === 'production' && !set.JWT_SECRET)
    problems.push('JWT_SECRET: must be set in production');
  if (values.LOCAL_ACCOUNTS === 'off' && !set.JWT_JWKS_URI)
    problems.push('JWT_JWKS_URI: must be set with LOCAL_ACCOUNTS=off, or no one could sign in');
  if (problems.length > 0) throw new BadEnvironment(problems);
  // Documentation is for people who explore; a production system opens it only when told to.
  return { ...values, DOCS: values.DOCS ?? (values.NODE_ENV === 'production' ? 'off' : 'on') };
}

/** Reads `.env` (what is already set wins), then the environment. */
export function loadEnv(file = '.env'): Env {
  if (existsSync(file)) process.loadEnvFile(file);
  return parseEnv(process.env);
}

function isTimeZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
}
