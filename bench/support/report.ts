import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { round } from './figures';
import type { Found, OperationResult, Result } from './result';
import { serverNode } from './server-process';

/** Rows as a table of Markdown, with columns that line up. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const [head = '', ...lines] = rows.map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines].join('\n');
}

const verdict = (ok: boolean | null): string => (ok === null ? '' : ok ? 'ok' : 'MISSED');

function operationsTable(results: readonly OperationResult[]): string {
  const rows = results
    .toSorted((a, b) => b.ratio - a.ratio)
    .map(
      ({ name, service, smallest, express, ratio, bound, textbookRatio, statements: [own, theirs], ok }) => [
        name,
        round(service),
        round(smallest),
        ratio.toFixed(2),
        `≤ ${bound}`,
        textbookRatio === null ? '' : textbookRatio.toFixed(2),
        round(express),
        own === theirs ? String(own) : `${own} (${theirs})`,
        !ok && ratio <= bound ? 'MISSED: above half of the textbook' : verdict(ok),
      ],
    );
  const head = [
    'Operation',
    'Service, µs',
    'Smallest Nest, µs',
    'Ratio',
    'Bound',
    'Textbook Nest / service',
    'Bare Express, µs',
    'Statements',
    '',
  ];
  return table([head, ...rows]);
}

function boundsTable(results: readonly Result[]): string {
  const rows = results.map(({ work, baseline, figure, bound, ok }) => [
    work,
    baseline,
    figure,
    bound,
    verdict(ok),
  ]);
  return table([['Work', 'Baseline', 'Figure', 'Bound', ''], ...rows]);
}

export function tablesOf({ operations, bounds }: Found): string {
  return `${operationsTable(operations)}\n\n${boundsTable(bounds)}`;
}

function detailsOf({ operations, bounds }: Found): string {
  return [...operations.map(({ name, details }) => ({ work: name, details })), ...bounds]
    .filter(({ details }) => details !== '')
    .map(({ work, details }) => `- **${work}**: ${details}`)
    .join('\n');
}

/** What a user wants to know. */
function overviewOf({ operations, bounds }: Found): string {
  const costOf = (name: string): number => operations.find((each) => each.name === name)?.service ?? NaN;
  const timeOf = (name: string): string => `${round(costOf(name) / 1000)} ms`;
  const rateOf = (name: string): string => (Math.round(1e5 / costOf(name)) * 10).toLocaleString('en');
  const boundOf = (work: string) => bounds.find((each) => each.work === work);
  const mostOf = (end: string): string =>
    Math.max(...bounds.flatMap(({ work, value = [] }) => (work.endsWith(end) ? value : []))).toFixed(2);
  const ratios = operations.map(({ ratio }) => ratio);
  const textbook = operations.flatMap(({ textbookRatio }) => textbookRatio ?? []);
  return `- **A request** costs the service so much CPU: a read by id ${timeOf('getDept')}, a page of 50 departments
  ${timeOf('listDepts, 50')}, a create ${timeOf('createDept')}, a move of 11 departments ${timeOf('updateDept, move of 11')}.
- **One core** carries about ${rateOf('getDept')} reads by id, ${rateOf('listDepts, 50')} pages of 50 or ${rateOf('createDept')} creates a second. The database works beside it.
- **Nest itself** takes ${round((operations.find(({ name }) => name === 'getDept')?.smallest ?? NaN) / 1000)} ms of a read by id. All operations take ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} times what the smallest
  Nest application takes for the same statements and the same bytes. A textbook one takes ${Math.min(...textbook).toFixed(1)} to ${Math.max(...textbook).toFixed(1)} times what the service takes.
- **With the number of tenants and departments** reads hardly grow: among 10,000 tenants a read costs at most
  ${mostOf('among 10,000 tenants')} times as much as among 70, and in a tenant of 100,000 departments at most ${mostOf('of 100,000 departments')} times as much as in one of 1,000.
- **With the size of the answer** grows a read: a page of 500 takes ${timeOf('listDepts, 500')}, a tree of 5,000 ${timeOf('getDeptTree, 5,000')}, an export of 10,000 ${timeOf('exportDepts, 10,000')}.
- **With what it changes** grows a write: a move of 10,000 takes ${boundOf('Move of 10,000 departments')?.cost ?? '?'}, of 100,000 ${boundOf('Move of 100,000 departments')?.cost ?? '?'}, an import of 10,000 ${timeOf('importDepts, 10,000')}.`;
}

/** Parts of the file that are measured apart, and stay as they are when it is written anew. */
export const APART = { large: 'Large data', node20: 'Node.js 20' } as const;
type Apart = (typeof APART)[keyof typeof APART];

const sectionsOf = (file: string): string[] => file.split(/^(?=## )/m);
const isNamed = (name: string) => (section: string) => section.startsWith(`## ${name}\n`);

/** The file with this section in the place of the one of its name, or at the end. */
export function withSection(file: string, name: Apart, text: string): string {
  const others = sectionsOf(file).filter((section) => !isNamed(name)(section));
  return `${others.join('').trimEnd()}\n\n## ${name}\n\n${text}\n`;
}

export function largeSection({ bounds, version }: Found): string {
  return `A million departments in one tenant, 100,000 tenants, and a journal of a million entries, once with \`npm run bench -- large\`
(Node.js ${nodeVersion()}, ${version}, ${today()}). Reads are held against a database with ten tenants of 1,000 departments each: CPU of the service
and of MariaDB together. Reads of the journal are timed by the clock.

${table([['Work', 'Against the small one', 'Cost'], ...bounds.map(({ work, figure, cost }) => [work, cost ? figure : '', cost ?? figure])])}`;
}

export function node20Section({ operations, version }: Found): string {
  return `Once with \`NODE_MAJOR=20 npm run bench -- operations\`: all servers on Node.js ${nodeVersion()}, ${version}, ${today()}. The bounds are those
of Node.js 24.

${operationsTable(operations)}`;
}

function nodeVersion(): string {
  return execFileSync(serverNode(), ['--version'], { encoding: 'utf8' }).trim();
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** The file that is kept. */
export function fileOf(before: string, mariadb: Found, postgres: Found | null, seconds: number): string {
  const apart = sectionsOf(before).filter((section) =>
    Object.values(APART).some((name) => isNamed(name)(section)),
  );
  return `# What it costs

${overviewOf(mariadb)}

Written by \`npm run bench\` in ${Math.round(seconds)} s; CONTRIBUTING.md says how it measures. The load average of the machine was
${loadavg()[2]?.toFixed(1) ?? '?'} in the last 15 minutes; on a quiet machine it is about 1.5 during a run.

## Operations

Read the ratio: so many times the CPU that the smallest Nest application with the parts of the service's design (a JWT guard, a role
guard, an interceptor, a filter) uses to send the same bytes does the service use for a request. A textbook Nest application, with TypeORM's
repositories, shall take at least twice what the service takes. A bare Express handler stands beside them; nothing is bounded by
it. Where the service runs other statements than the smallest application, its number is in brackets. Sign-in and the two operations that
hash a password (\`createUser\`, \`changePassword\`) are left out: the hash is nearly all that they cost.

${operationsTable(mariadb.operations)}

## Other bounds

${boundsTable(mariadb.bounds)}

## PostgreSQL

The same service and the same baselines, with named prepared statements of pg. The bounds are those of MariaDB.

${postgres ? tablesOf(postgres) : 'It was not installed: nothing was measured on it.'}

## Measured on

- CPU: ${cpus()[0]?.model ?? '?'}, ${cpus().length} cores; memory: ${(totalmem() / 2 ** 30).toFixed(1)} GB; kernel: ${release()}
- Node.js ${nodeVersion()}, ${mariadb.version}${postgres ? `, ${postgres.version}` : ''}, ${today()}

## Figures

Medians, with the lowest and the highest of the rounds.

${detailsOf(mariadb)}
${postgres ? `\nOn PostgreSQL:\n\n${detailsOf(postgres)}\n` : ''}${apart.length > 0 ? `\n${apart.join('').trimEnd()}\n` : ''}`;
}
