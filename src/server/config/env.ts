import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { parseDatabaseUrl } from '../../database/database-url';
import { DEFAULT_DATABASE_URL, DEFAULT_TIME_ZONE, readEnvironment, withFiles } from './environment';

const oneOf = <const T extends readonly string[]>(...choices: T) =>
  z.enum(choices, `must be one of ${choices.join(', ')}`);

const textThat = (fits: (text: string) => boolean, problem: string) => z.string().refine(fits, problem);

/** In plain digits: neither `0x10` nor `1e3` nor a space. */
const wholeNumber = (least: number, most: number, problem: string) =>
  textThat(
    (text) => /^(0|[1-9][0-9]*)$/.test(text) && Number(text) >= least && Number(text) <= most,
    problem,
  ).transform(Number);

/** Normalized: without spaces around it, its scheme in lower case. */
const address = (protocol: RegExp, problem: string) =>
  z.url({ protocol, hostname: /./, normalize: true, error: problem });

const listOf = (fits: (item: string) => boolean, problem: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .refine((list) => list.every(fits), problem);

const onOrOff = oneOf('on', 'off');
const port = (least: number) => wholeNumber(least, 65_535, 'must be a port number');
const requests = wholeNumber(1, 100_000, 'must be a number of requests');
const perMinute = wholeNumber(1, 999_999_999, 'must be a number of requests');
const days = wholeNumber(0, 36_500, 'must be a number of days');
const secret = textThat((text) => Buffer.byteLength(text) >= 32, 'must be at least 32 bytes long');
const password = textThat(({ length }) => length >= 8 && length <= 128, 'must be 8 to 128 characters long');
const timeZone = textThat(isTimeZone, 'must be an IANA time zone such as Asia/Shanghai');
const asManyAsCores = z.literal('auto').transform(() => availableParallelism());
const numberOfProxies = textThat((text) => /^[0-9]{1,2}$/.test(text), '').transform(Number);
const proxies = listOf(isProxy, '').transform((list) => list.join(','));

/** Of a file that holds another setting. */
const file = z.string().optional();

const settings = z.object({
  NODE_ENV: oneOf('development', 'production', 'test').default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port(0).default(3000),
  WORKERS: z
    .union([asManyAsCores, wholeNumber(1, 256, '')], 'must be auto or a number from 1 to 256')
    .default(1),
  DATABASE_URL: z.string().prefault(DEFAULT_DATABASE_URL).transform(databaseUrl),
  DATABASE_URL_FILE: file,
  MIGRATE: onOrOff.default('on'),
  DATA_DIR: z.string().default('./data'),
  JWT_SECRET: secret.optional(),
  JWT_SECRET_FILE: file,
  JWT_SECRET_PREVIOUS: secret.optional(),
  JWT_SECRET_PREVIOUS_FILE: file,
  JWT_ISSUER: z.string().default('tenantry'),
  JWT_AUDIENCE: z.string().default('tenantry'),
  LOCAL_ACCOUNTS: onOrOff.default('on'),
  JWT_JWKS_URI: address(/^https?$/, 'must be an http(s) address').optional(),
  JWT_TENANT_CLAIM: z.string().default('tenantId'),
  JWT_ROLES_CLAIM: z.string().default('roles'),
  JWT_USERNAME_CLAIM: z.string().default('username'),
  JWT_SCOPE_CLAIM: z.string().default('scope'),
  ADMIN_PASSWORD: password.optional(),
  ADMIN_PASSWORD_FILE: file,
  CONSOLE: onOrOff.default('on'),
  TIME_ZONE: timeZone.default(DEFAULT_TIME_ZONE),
  HTTP_STATUS_MODE: oneOf('match-code', 'always-200').default('match-code'),
  STRICT_INPUT: onOrOff.default('off'),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  RATE_LIMIT: onOrOff.default('on'),
  RATE_LIMIT_LOGIN_ADDRESS: perMinute.default(60),
  RATE_LIMIT_LOGIN_ACCOUNT: perMinute.default(20),
  RATE_LIMIT_USER: perMinute.default(6000),
  /** As Express takes it. Not `true`, which would trust every client. */
  TRUST_PROXY: z
    .union(
      [numberOfProxies, proxies],
      'must be a number of proxies, or addresses and networks such as 10.0.0.0/8 or loopback, with commas between them',
    )
    .default(0),
  MAX_IN_WORK: requests.optional(),
  MAX_WAITING: requests.default(128),
  MAX_WAIT_MS: wholeNumber(1, 60_000, 'must be a number of milliseconds').default(2000),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 'must be a number of connections').default(5000),
  REDIS_URL: address(/^rediss?$/, 'must be a redis:// address').optional(),
  REDIS_URL_FILE: file,
  METRICS_PORT: port(1).optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  CORS_ORIGINS: listOf(
    isOrigin,
    'must be a list of exact origins such as https://app.example, with commas between them',
  ).default([]),
  DOCS: onOrOff.optional(),
  JOURNAL_KEEP_DAYS: days.default(400),
  QUOTA_KEEP_DAYS: days.default(400),
  SIGN_IN_KEEP_DAYS: days.default(90),
  PACKAGE_CEILING: onOrOff.default('off'),
  QUOTA_CEILING: onOrOff.default('off'),
  WEBHOOK_ALLOW_PRIVATE: onOrOff.default('off'),
  SHUTDOWN_DRAIN_MS: wholeNumber(0, 60_000, 'must be milliseconds, at most 60000').default(500),
});

/** Injects the validated configuration. */
export const ENV = Symbol('ENV');
export type Env = Readonly<z.output<typeof settings> & { DOCS: 'on' | 'off'; MAX_IN_WORK: number }>;

/** Requests in work at once that suit one process, and those that keep one of many workers busy. */
const IN_WORK = { alone: 16, worker: 4 };

export function parseEnv(source: Record<string, string | undefined>): Env {
  // An empty variable is how compose files and shells say "not set".
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const { settings: set, problems: ofFiles } = withFiles(given);
  const { data, error } = settings.safeParse(set);
  const problems = new Map(error?.issues.map(({ path, message }) => [String(path[0]), message]));
  for (const [name, problem] of ofFiles) problems.set(name, problem);
  if (set.NODE_ENV === 'production' && !set.JWT_SECRET && !set.JWT_SECRET_FILE)
    problems.set('JWT_SECRET', 'must be set in production');
  if (set.LOCAL_ACCOUNTS === 'off' && !set.JWT_JWKS_URI)
    problems.set('JWT_JWKS_URI', 'must be set with LOCAL_ACCOUNTS=off, or no one could sign in');
  if (data && data.WORKERS > 1 && data.DATABASE_URL.kind === 'sqlite')
    problems.set('WORKERS', 'must be 1 with SQLite: a SQLite file has one writer; use a database server');
  if (!data || problems.size > 0) {
    const lines = [...problems].map(([name, problem]) => `  ${name}: ${problem}`);
    throw new Error(['The configuration is not valid:', ...lines].join('\n'));
  }
  // Documentation is for people who explore; a production system opens it only when told to.
  const DOCS = data.DOCS ?? (data.NODE_ENV === 'production' ? 'off' : 'on');
  const MAX_IN_WORK = data.MAX_IN_WORK ?? Math.max(IN_WORK.alone, IN_WORK.worker * data.WORKERS);
  return { ...data, DOCS, MAX_IN_WORK };
}

export function loadEnv(): Env {
  return parseEnv(readEnvironment());
}

function databaseUrl(url: string, context: z.RefinementCtx): ReturnType<typeof parseDatabaseUrl> {
  try {
    return parseDatabaseUrl(url);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
}

function isTimeZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
}

/** As a browser sends it; `*` is none. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [, ip = '', bits = '1'] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(ip)] ?? 0;
  return Number(bits) > 0 && Number(bits) <= most;
}
