import { existsSync } from 'node:fs';
import { z } from 'zod';
import { parseDatabaseUrl } from './database-url';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const PORTS = 'must be a port number';

function perMinute(usual: number) {
  return z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, 'must be a number of requests')
    .transform(Number)
    .default(usual);
}

const databaseUrl = z.string().transform((url, problem) => {
  try {
    return parseDatabaseUrl(url);
  } catch (error) {
    problem.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const schema = z
  .object({
    NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: z
      .string()
      .regex(/^[0-9]{1,5}$/, PORTS)
      .transform(Number)
      .refine((port) => port <= 65535, PORTS)
      .default(3000),
    DATABASE_URL: databaseUrl.prefault('sqlite:./data/tenantry.sqlite'),
    DATA_DIR: z.string().min(1).default('./data'),
    JWT_SECRET: z
      .string()
      .refine((secret) => Buffer.byteLength(secret) >= 32, 'must be at least 32 bytes long')
      .optional(),
    JWT_ISSUER: z.string().min(1).default('tenantry'),
    JWT_AUDIENCE: z.string().min(1).default('tenantry'),
    LOCAL_ACCOUNTS: z.enum(['on', 'off']).default('on'),
    JWT_JWKS_URI: z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).optional(),
    JWT_TENANT_CLAIM: z.string().min(1).default('tenantId'),
    JWT_ROLES_CLAIM: z.string().min(1).default('roles'),
    JWT_USERNAME_CLAIM: z.string().min(1).default('username'),
    ADMIN_PASSWORD: z.string().min(8, 'must be at least 8 characters long').max(128).optional(),
    TIME_ZONE: z
      .string()
      .refine(isTimeZone, 'must be an IANA time zone such as Asia/Shanghai')
      .default('Asia/Shanghai'),
    HTTP_STATUS_MODE: z.enum(['match-code', 'always-200']).default('match-code'),
    LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
    RATE_LIMIT: z.enum(['on', 'off']).default('on'),
    RATE_LIMIT_LOGIN_ADDRESS: perMinute(60),
    RATE_LIMIT_LOGIN_ACCOUNT: perMinute(20),
    RATE_LIMIT_USER: perMinute(6000),
    REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// address' }).optional(),
    DOCS: z.enum(['on', 'off']).optional(),
  })
  // Documentation is for people who explore; a production system opens it only when told to.
  .transform((env) => ({ ...env, DOCS: env.DOCS ?? (env.NODE_ENV === 'production' ? 'off' : 'on') }));

/** The validated configuration. */
export type Env = z.infer<typeof schema>;

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
  const result = schema.safeParse(set);
  const problems = [
    ...(result.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    // Not a rule of the schema: zod would tell it only when everything else is right.
    ...(set.NODE_ENV === 'production' && !set.JWT_SECRET ? ['JWT_SECRET: must be set in production'] : []),
    ...(set.LOCAL_ACCOUNTS === 'off' && !set.JWT_JWKS_URI
      ? ['JWT_JWKS_URI: must be set with LOCAL_ACCOUNTS=off, or nobody could sign in']
      : []),
  ];
  if (!result.success || problems.length > 0) throw new BadEnvironment(problems);
  return result.data;
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
