import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** At once: Jest wants to know all tests of a file before any of them runs. */
const load = createRequire(__filename);
const TESTS = join(__dirname, '..');

/**
 * Which specs run in one Jest file. Jest loads Nest and TypeORM anew for each file, and that costs more than most specs do:
 * `npm test` runs these suites, `npx jest` runs every spec by itself.
 */
export const SUITES = {
  accounts: /^(auth|user|http)\//,
  database: /^(database|embedding)\//,
  departments: /^dept\//,
  journal: /^journal\//,
  processes: /^(cli|process)\//,
  quotas: /^quota\//,
  tenants: /^(tenant|tenancy)\//,
} as const;

/** The same for specs that run once, whatever the database. */
export const ONCE_SUITES = {
  'once-in-process':
    /^once\/(?!usage|platform|container|settings|document\.|licences|demo|account-commands|start)/,
  'once-processes':
    /^once\/(usage|platform|container|settings|document\.|licences|demo|account-commands|start)/,
} as const;

/**
 * What `npm test` leaves to `npm run test:long`, whose patterns in package.json name the same: on servers what hardly depends on the
 * database, and of the specs that run once those that start many processes.
 */
const LONG = {
  onServer:
    /^(journal\/(webhook|on-change)|embedding\/(start-checks|host-|events)|dept\/dept-transfer-|quota\/(entitlement|quota-host))/,
  once: /^once\/(tls|demo|account-commands|settings)/,
};

/** Every spec below `test/` that `npm test` runs over HTTP. */
export function specs(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.e2e-spec.ts') && !/^(browser|packed|scale|faults)\//.test(path))
    .sort();
}

/** Brings the specs of a suite into the file that calls it. */
export function bringSuite(name: keyof typeof SUITES | keyof typeof ONCE_SUITES): void {
  const pattern = { ...SUITES, ...ONCE_SUITES }[name];
  const isLong = (path: string) =>
    LONG.once.test(path) || (globalThis.TEST_DATABASE !== 'sqlite' && LONG.onServer.test(path));
  for (const path of specs().filter((each) => pattern.test(each) && !isLong(each))) load(join(TESTS, path));
}
