import { cpus, loadavg, release, totalmem } from 'node:os';
import { round } from './figures';
import type { Found, OperationResult, Result } from './result';

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

/** The file that is kept. */
export function fileOf(mariadb: Found, postgres: Found | null, seconds: number): string {
  return `# What it costs

Written by \`npm run bench\` in ${Math.round(seconds)} s; CONTRIBUTING.md says how it measures. The load average of the machine was
${loadavg()[2]?.toFixed(1) ?? '?'} in the last 15 minutes; on a quiet machine it is about 1.5 during a run.

## Operations

Read the ratio: so many times the CPU of a bare Express handler that sends the same bytes does the service use for a request.
The textbook Nest application is held against the same handler; its ratio is what one would have without this work. Where the
service runs other statements than the handler, the handler's number is in brackets. Sign-in and the two operations that hash a
password (\`createUser\`, \`changePassword\`) are left out: the hash is nearly all that they cost.

${operationsTable(mariadb.operations)}

## Other bounds

${boundsTable(mariadb.bounds)}

## PostgreSQL

The same service and the same bare handler, with named prepared statements of pg. The bounds are those of MariaDB.

${postgres ? tablesOf(postgres) : 'It was not installed: nothing was measured on it.'}

## Measured on

- CPU: ${cpus()[0]?.model ?? '?'}, ${cpus().length} cores; memory: ${(totalmem() / 2 ** 30).toFixed(1)} GB; kernel: ${release()}
- Node ${process.version}, ${mariadb.version}${postgres ? `, ${postgres.version}` : ''}, ${new Date().toISOString().slice(0, 10)}

## Figures

Medians, with the lowest and the highest of the rounds.

${detailsOf(mariadb)}
${postgres ? `\nOn PostgreSQL:\n\n${detailsOf(postgres)}\n` : ''}`;
}
