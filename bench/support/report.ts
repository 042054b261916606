import type { Result } from './result';

const HEAD = ['Work', 'Baseline', 'Figure', 'Bound', 'Aim', ''] as const;

/** All results as one table of Markdown, with columns that line up. */
export function tableOf(results: readonly Result[]): string {
  const rows = results.map(({ work, baseline, figure, bound, aim, ok }) => [
    work,
    baseline,
    figure,
    bound,
    aim,
    ok === null ? '' : ok ? 'ok' : 'MISSED',
  ]);
  const all = [[...HEAD], ...rows];
  const widths = HEAD.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const [head = '', ...lines] = all.map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines].join('\n');
}

/** The file that is kept: the table, what it was measured on, and the figures behind the ratios. */
export function fileOf(results: readonly Result[], facts: readonly string[], seconds: number): string {
  const figures = results.filter(({ details }) => details !== '');
  return `# What it costs

Written by \`npm run bench\` in ${Math.round(seconds)} s; CONTRIBUTING.md says how it measures.

${tableOf(results)}

## Measured on

${facts.map((fact) => `- ${fact}`).join('\n')}

The service runs as in production (\`NODE_ENV=production\`, a log line for each request, written to /dev/null); only \`RATE_LIMIT_USER\` is
raised out of reach. The load comes from the bench's own process, on the same machine.

## Figures

Medians, with the lowest and the highest of the rounds. CPU is that of the server's process, per request.

${figures.map(({ work, details }) => `- **${work}**: ${details}`).join('\n')}
`;
}
