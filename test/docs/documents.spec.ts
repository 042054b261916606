import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from '../../src/server/config/env';

const ROOT = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const GUIDES = ['docs/api.md', 'docs/embedding.md', 'docs/operations.md'];
const RECORDS = readdirSync(join(ROOT, 'docs', 'decisions')).map((name) => `docs/decisions/${name}`);
const OTHERS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/platform/README.md'];
const DEPLOY = ['deploy/galera/README.md', 'deploy/kubernetes/README.md'];
const DOCUMENTS = [...OTHERS, ...DEPLOY, ...GUIDES, ...RECORDS];

const headings = (text: string) => [...text.matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!);
/** As GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('the documents', () => {
  it('README is short enough to be a door, not a manual', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(170);
  });

  it('README has its first command on the first screen', () => {
    const lines = read('README.md').split('\n');
    expect(lines.findIndex((line) => line.startsWith('npm ci && npm start')) + 1).toBeLessThanOrEqual(20);
  });

  it.each(DOCUMENTS)('links of documents lead somewhere: %s', (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? file : join(dirname(file), path);
      expect([link, existsSync(join(ROOT, target))]).toEqual([link, true]);
      if (anchor !== undefined) expect([link, ...headings(read(target)).map(anchorOf)]).toContain(anchor);
    }
  });

  it.each(GUIDES)('a guide has a table of contents: %s', (file) => {
    const text = read(file);
    const listed = [...text.matchAll(/^- \[(.*)\]\(#.*\)$/gm)].map((match) => match[1]);
    expect(listed).toEqual([...text.matchAll(/^## (.*)$/gm)].map((match) => match[1]));
  });

  it('every decision is listed', () => {
    const index = read('docs/decisions/README.md');
    const records = RECORDS.map((file) => file.slice('docs/decisions/'.length)).filter((name) =>
      /^\d/.test(name),
    );
    expect(records.length).toBeGreaterThan(10);
    for (const name of records) expect(index).toContain(`](${name})`);
  });

  it('the package, the OpenAPI document and the changelog agree on the version', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(/^ {2}version: (.*)$/m.exec(read('docs/openapi.yaml'))?.[1]).toBe(version);
    const sections = [...read('CHANGELOG.md').matchAll(/^## \[(.*)\] - (.*)$/gm)];
    expect(sections[0]?.[1]).toBe(version);
    // A version that is finished has a date; so only the one that is worked on has none.
    for (const [index, [, name, date]] of sections.entries())
      expect([name, date]).toEqual([
        name,
        expect.stringMatching(index === 0 ? /^(unreleased|\d{4}-\d\d-\d\d)$/ : /^\d{4}-\d\d-\d\d$/),
      ]);
  });

  it('every setting is documented with its default', () => {
    const source = read('src/server/config/env.ts');
    const settings = [...source.matchAll(/^ {2,4}([A-Z][A-Z_]+):/gm)].map((match) => match[1]!);
    const section = read('docs/operations.md').split('\n## Settings\n')[1]!.split('\n## ')[0]!;
    const rows = [...section.matchAll(/^\| (`[A-Z].*?) \| (.*?) \|/gm)].map(
      ([, names, defaults]) => [quoted(names!), quoted(defaults!)] as const,
    );
    expect(rows.flatMap(([names]) => names).sort()).toEqual([...new Set(settings)].sort());
    const example = [...read('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map((match) => match[1]);
    expect(example.sort()).toEqual([...new Set(settings)].sort());
    const values = parseEnv({}) as unknown as Record<string, unknown>;
    for (const [names, defaults] of rows.filter(([{ length }, told]) => length === told.length))
      names.forEach((name, index) => {
        const value = values[name];
        const isPlain = typeof value === 'string' || typeof value === 'number';
        if (isPlain) expect([name, String(value)]).toEqual([name, defaults[index]]);
      });
  });
});

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
}
