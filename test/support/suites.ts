import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isLong } from './long-run';

/** At once: Jest wants to know all tests of a file before any of them runs. */
const load = createRequire(__filename);
const TESTS = join(__dirname, '..');

/**
 * Which specs run in one Jest file. Jest loads Nest and TypeORM anew for each file, and that costs more than most specs do:
 * `npm test` runs these suites, `npx jest` runs every spec by itself.
 */
export const SUITES = {
  'accounts-and-tenants': /^(account|auth|http|tenant|tenancy)\//,
  database: /^(database|embedding)\//,
  departments: /^dept\//,
  'journal-and-quotas': /^(journal|quota)\//,
  processes: /^(cli|process)\//,
} as const;

const WITH_PROCESSES =
  'usage|platform|container|settings|openapi-document|licences|demo|account-commands|start';

/** Suites of specs for which the database does not matter: they run on one, SQLite. */
export const ONE_DATABASE_SUITES = {
  'one-database-in-process': new RegExp(`^one-database/(?!${WITH_PROCESSES})`),
  'one-database-processes': new RegExp(`^one-database/(${WITH_PROCESSES})`),
} as const;

/**
 * MySQL has MariaDB's driver and dialect: what `npm test` runs on it, in one file, is what may differ all the same. The rest is left
 * to `npm run test:long`, in the suites above.
 */
export const MYSQL_SUITE = {
  'on-mysql': /^(database\/(migrations|races)|(dept|tenant)\/\w+-(contract|list))/,
} as const;

/** Specs that `npm run test:long` runs with more rounds than `npm test`. */
const AT_LENGTH =
  /(races?|programs|replay|long-history|acknowledged-writes|idempotency|conditional|dept-transfer.*|entitlement|(data|in)-scope|recorded-sign-ins)\.e2e/;

/**
 * Specs that `npm test` leaves to `npm run test:long`, by how their path begins: on servers what hardly depends on the database or
 * takes long, and elsewhere what starts many processes.
 */
const LEFT_TO_LONG = {
  oneDatabase: ['account-commands', 'demo', 'platform', 'settings', 'tls', 'usage'].map(
    (name) => `one-database/${name}`,
  ),
  onFile: ['cli/commands', 'cli/demo', 'process/replicas', 'process/last-release'],
  onServer: [
    ...['cli/', 'process/', 'tenancy/isolation', 'tenant/tenant-fields'],
    ...['account/account-grants', 'account/account-patch', 'account/key-contract'],
    ...['auth/limited-tokens', 'auth/recorded-sign-ins', 'auth/sign-in'],
    ...[
      'dept/dept-fields',
      'dept/dept-in-scope',
      'dept/dept-programs',
      'dept/dept-subtree',
      'dept/dept-transfer',
    ],
    ...['database/acknowledged-writes', 'database/server-settings'],
    ...['embedding/data-scope', 'embedding/events', 'embedding/host-', 'embedding/start-checks'],
    ...['http/conditional', 'http/idempotency', 'http/metrics', 'http/pipeline'],
    ...['journal/change-feed', 'journal/change-replay', 'journal/long-history', 'journal/on-change'],
    'journal/webhook',
    ...[
      'quota/entitlement',
      'quota/quota-faults',
      'quota/quota-host',
      'quota/quota-programs',
      'quota/quota-race',
    ],
  ],
};

const ALL_SUITES = { ...SUITES, ...ONE_DATABASE_SUITES, ...MYSQL_SUITE };

/** Every spec below `test/` that `npm test` runs over HTTP. */
export function specs(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.e2e-spec.ts') && !/^(browser|packed|scale|faults|deploy)\//.test(path))
    .sort();
}

/** Brings the specs of a suite into the file that calls it: those of `npm test`, or those of `npm run test:long`. */
export function bringSuite(name: keyof typeof ALL_SUITES): void {
  const pattern = ALL_SUITES[name];
  const isInRun = isLong
    ? (path: string) => isLeft(path) || AT_LENGTH.test(path)
    : (path: string) => !isLeft(path);
  const isForDatabase = (path: string) =>
    globalThis.TEST_DATABASE === 'postgres' || !path.includes('/postgres-');
  const chosen = specs().filter((each) => pattern.test(each) && isInRun(each) && isForDatabase(each));
  for (const path of chosen) load(join(TESTS, path));
}

function isLeft(path: string): boolean {
  const { oneDatabase, onFile, onServer } = LEFT_TO_LONG;
  if (globalThis.TEST_DATABASE === 'mysql') return !MYSQL_SUITE['on-mysql'].test(path);
  const onDatabase = globalThis.TEST_DATABASE === 'sqlite' ? onFile : onServer;
  return (path.startsWith('one-database/') ? oneDatabase : onDatabase).some((beginning) =>
    path.startsWith(beginning),
  );
}
