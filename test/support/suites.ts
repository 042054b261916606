import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** At once: Jest wants to know all tests of a file before any of them runs. */
const load = createRequire(__filename);
const TESTS = join(__dirname, '..');

/**
 * Which specs run in one Jest file. Jest loads Nest and TypeORM anew for each file, and that costs more than most specs do:
 * `npm test` runs these, `npx jest` runs every spec by itself.
 */
export const SUITES = {
  accounts: /^(auth|user|tenancy)\//,
  commands: /^(cli|process)\//,
  database: /^database\//,
  departments: /^dept\/dept-(contract|fields|list|patch|statements|tree)/,
  'departments-at-length': /^dept\/dept-(property|races|scale|transfer)/,
  hosts: /^(embedding|docs)\//,
  http: /^(http\/|refusals)/,
  tenants: /^tenant\/tenant-(access|contract|fields|ids)/,
  'tenants-at-length': /^tenant\/tenant-(list|patch|races|state)/,
} as const;

/** The same for specs that run once, whatever the database. */
export const ONCE_SUITES = {
  'once-in-process': /^(?!cli|packed|process|docs\/(document|licences))/,
  'once-processes': /^(cli|packed|process|docs\/(document|licences))/,
} as const;

/** Every spec below `test/` that runs on both databases, or that runs once. */
export function specs(ending: '.e2e-spec.ts' | '.once-spec.ts'): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .sort();
}

/** Brings the specs of a suite into the file that calls it. */
export function bringSuite(name: keyof typeof SUITES): void {
  bring(specs('.e2e-spec.ts'), SUITES[name]);
}

export function bringOnceSuite(name: keyof typeof ONCE_SUITES): void {
  bring(specs('.once-spec.ts'), ONCE_SUITES[name]);
}

function bring(paths: string[], pattern: RegExp): void {
  for (const path of paths.filter((each) => pattern.test(each))) load(join(TESTS, path));
}
