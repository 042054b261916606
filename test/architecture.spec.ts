import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { MYSQL_SUITE, ONE_DATABASE_SUITES, specs, SUITES } from './support/suites';

const ROOT = join(__dirname, '..');
const SRC = join(ROOT, 'src');

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

function load(): SourceFile[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(spec|generated)\.ts$/.test(path))
    .map((path) => {
      const text = readFileSync(join(SRC, path), 'utf8');
      const specifiers = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1]!);
      const toFile = (specifier: string) => {
        const file = relative(SRC, resolve(SRC, dirname(path), specifier.replace(/\.js$/, '')));
        return existsSync(join(SRC, `${file}.tsx`)) ? `${file}.tsx` : `${file}.ts`;
      };
      return {
        path,
        text,
        imports: specifiers.filter((each) => each.startsWith('.')).map(toFile),
        packages: specifiers.filter((each) => !each.startsWith('.')),
      };
    });
}

/** The rooms of the library, from the top: each may import those before it. */
const LIBRARY =
  'errors time concurrency database tenancy journal resource web changes tenant dept (resources) doctor (door)'.split(
    ' ',
  );
/** Entry points of the package beside the library; they may import all of it. */
const ENTRIES = ['client', 'testing'];
/** Resources, which do not import each other. */
const RESOURCES = ['changes', 'tenant', 'dept'];

/** A folder of `src`, or of `src/server`; `(resources)` is the list of them, `(door)` the library's own entry. */
function roomOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  if (path === 'resources.ts') return '(resources)';
  return folders.length === 0 ? '(door)' : folders.slice(0, folders[0] === 'server' ? 2 : 1).join('/');
}

function levelOf(room: string): number {
  return [...LIBRARY, ...ENTRIES, 'console', 'server'].indexOf(room.split('/', 1)[0]!);
}

function mayImport(from: string, to: string): boolean {
  if (from === to || from.split('/', 1)[0] === 'server') return true;
  if (RESOURCES.includes(from) && RESOURCES.includes(to)) return false;
  return levelOf(to) < levelOf(from) && to !== 'server';
}

describe('the source', () => {
  const files = load();
  const paths = (found: SourceFile[]) => found.map(({ path }) => path);

  it('TypeORM is imported only by files whose role is storage', () => {
    const storage =
      /(^database\/|\/migrations\/|^(data-source|resources)\.ts$|\.(entity|columns|conditions|repository|directory)\.ts$|locked-[a-z-]+\.ts$)/;
    // Each with its reason: they hand a manager or a DataSource on and know nothing else of it.
    const exempt = new Map([
      ['server/app.module.ts', 'gives the open DataSource to Nest'],
      ['server/logging/logger.ts', 'tells errors of the database from others'],
      ['tenancy/tenant-bound.ts', 'is the tenant-bound table itself'],
      ['resource/host-table.ts', 'is what hosts reach of their tables'],
      ['resource/tenant-bound.query-builder.ts', 'is what hosts build selects with'],
      ['tenantry-transaction.ts', 'hands the manager of a transaction to the host'],
      ['start-checks.ts', 'looks at the DataSource of a host'],
      ['tenancy/tenant-access.ts', 'has a port that is asked in a unit of work'],
      ['journal/change-log.ts', 'is the table of the journal'],
      ['journal/journal-state.ts', 'reads the version in a statement of its own'],
      ['server/account/first-admin.ts', 'runs before there is a service'],
      ['server/health/health.controller.ts', 'asks the database itself'],
      ['server/cli/with-database.ts', 'opens the DataSource for a command'],
      ['server/open-database.ts', 'opens the DataSource of the service'],
      ['server/service-data-source.ts', 'makes the DataSource of the service'],
      ['server/testing.ts', 'hands the DataSource of a test on'],
      ['testing/throw-away-database.ts', 'opens the DataSource of a test'],
    ]);
    const offenders = files.filter(
      ({ path, packages }) =>
        packages.some((each) => /^(typeorm|@nestjs\/typeorm)/.test(each)) &&
        !storage.test(path) &&
        !exempt.has(path),
    );
    expect(paths(offenders)).toEqual([]);
    for (const path of exempt.keys()) expect(paths(files)).toContain(path);
  });

  it('nothing saves by key alone, and no query builder is handed out of storage but the one that is bound to a tenant', () => {
    const byKey = /\.(save|upsert|remove|softDelete)\((?!\))/;
    expect(paths(files.filter(({ text }) => byKey.test(text)))).toEqual([]);
    const builders = files.filter(({ text }) => text.includes('createQueryBuilder'));
    expect(paths(builders).sort()).toEqual([
      'resource/host-table.ts',
      'resource/tenant-bound.query-builder.ts',
      'server/auth/failed-sign-in.repository.ts',
    ]);
    const prepared = files.filter(({ text }) => text.includes('runPrepared('));
    expect(paths(prepared).sort()).toEqual([
      'database/sql-statement.ts',
      'journal/journal-state.ts',
      'journal/tree-lock.ts',
    ]);
    // Tables that are not bound to a tenant. Each names the tenant in its conditions, or reads no tenant's row.
    const unbound = files.filter(({ text }) => /new ScopedTable[<(]/.test(text));
    expect(paths(unbound).sort()).toEqual([
      'changes/lease.repository.ts',
      'changes/subscription.repository.ts',
      'changes/webhook/webhook.repository.ts',
      'database/cleanup.ts',
      'database/commit-log.ts',
      'dept/locked-dept-tree.ts',
      'doctor/doctor.repository.ts',
      'journal/change-log.ts',
      'journal/change-reader.repository.ts',
      'journal/journal-cleaner.repository.ts',
      'server/account/account.repository.ts',
      'server/auth/failed-sign-in.repository.ts',
      'server/auth/key-use.repository.ts',
      'server/auth/session.repository.ts',
      'server/auth/sign-in.repository.ts',
      'tenant/locked-tenant-tree.ts',
      'tenant/quota/quota.repository.ts',
      'tenant/tenant.repository.ts',
    ]);
  });

  it('departments, tenants, accounts and keys are written only where their tree is locked, so that the journal has every change', () => {
    const writes = /\.(insert|insertMany|insertAll|update|erase|delete|increment)\(/;
    const journalled =
      /(new (ScopedTable|TenantBound)\(\S+ |manager\.(insert|update|delete)\()(TenantryDept|TenantryTenant|AccountEntity|KeyEntity)\b/;
    const writers = files.filter(({ text }) => writes.test(text) && journalled.test(text));
    expect(paths(writers).sort()).toEqual(
      [
        // Puts paths right, which follow from the parents and are not in the journal.
        'doctor/doctor.repository.ts',
        'dept/locked-dept-tree.ts',
        // Counts sign-ins, and writes sessions.
        'server/auth/session.repository.ts',
        // Writes when a key was last used, which is not in the journal.
        'server/auth/key-use.repository.ts',
        'server/account/account.repository.ts',
        'server/key/key.repository.ts',
        'tenant/locked-tenant-tree.ts',
        // Writes quotas, and reads the totals in the tenant.
        'tenant/quota/locked-quota.ts',
      ].sort(),
    );
    for (const path of [
      'dept/locked-dept-tree.ts',
      'server/account/account.repository.ts',
      'server/key/key.repository.ts',
      'tenant/locked-tenant-tree.ts',
    ]) {
      const { text } = files.find((file) => file.path === path)!;
      // JournalledRows notes what it writes; no other table of these rows is written to.
      expect([path, text.match(/this\.#(depts|tenants|accounts|keys)\.(insert|update|erase)\w*\(/g)]).toEqual(
        [path, null],
      );
    }
  });

  it('process.env is read only where the service starts', () => {
    expect(paths(files.filter(({ text }) => text.includes('process.env')))).toEqual([
      'server/config/environment.ts',
    ]);
  });

  it('global providers are registered only in the standalone service', () => {
    expect(paths(files.filter(({ text }) => /\bAPP_[A-Z]+\b/.test(text)))).toEqual(['server/app.module.ts']);
  });

  it('TypeORM never changes the schema by itself', () => {
    expect(paths(files.filter(({ text }) => /synchronize: *true/.test(text)))).toEqual([]);
  });

  it('the source has no barrels but the entries of the package', () => {
    const barrels = files.filter(({ text }) => /export (\*|\{[^}]*\}) from/.test(text));
    expect(paths(barrels).sort()).toEqual(['index.ts', 'server/testing.ts']);
  });

  it('the source keeps its files few', () => {
    expect(files.length).toBeLessThanOrEqual(327);
  });

  it('the console imports the client and the chart alone, nothing imports it, and it stays small', () => {
    const isConsole = ({ path }: Pick<SourceFile, 'path'>) => roomOf(path) === 'console';
    const own = files.filter(isConsole);
    const others = own.flatMap(({ imports }) => imports).filter((path) => !isConsole({ path }));
    expect([...new Set(others)].sort()).toEqual(['client/index.ts', 'dept/chart.ts']);
    expect([...new Set(own.flatMap(({ packages }) => packages))].sort()).toEqual(['preact', 'preact/hooks']);
    const chart = files.find(({ path }) => path === 'dept/chart.ts')!;
    expect([chart.imports, chart.packages]).toEqual([[], []]);
    expect(
      paths(files.filter((file) => !isConsole(file) && file.imports.some((path) => isConsole({ path })))),
    ).toEqual([]);
    const markup = /innerHTML|dangerouslySetInnerHTML|\beval\(|document\.write/i;
    expect(paths(own.filter(({ text }) => markup.test(text)))).toEqual([]);
    const style = readFileSync(join(SRC, 'console', 'style.css'), 'utf8');
    const lines = [style, ...own.map(({ text }) => text)].map((text) => text.split('\n').length - 1);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2500);
  });

  it('rooms import only rooms above them, and nothing imports the server', () => {
    const upward = files.flatMap(({ path, imports }) =>
      imports
        .filter((each) => !mayImport(roomOf(path), roomOf(each)))
        .map((each) => `${path} imports ${each}`),
    );
    expect(upward).toEqual([]);
    expect(files.map(({ path }) => roomOf(path)).filter((room) => levelOf(room) < 0)).toEqual([]);
  });

  it('rooms have no circle', () => {
    const rooms = new Map<string, Set<string>>();
    for (const { path, imports } of files) {
      const room = roomOf(path);
      const others = imports.map(roomOf).filter((each) => each !== room);
      rooms.set(room, new Set([...(rooms.get(room) ?? []), ...others]));
    }
    const reached = (from: string, seen = new Set<string>()): Set<string> => {
      for (const next of rooms.get(from) ?? []) if (!seen.has(next)) reached(next, seen.add(next));
      return seen;
    };
    expect([...rooms.keys()].filter((room) => reached(room).has(room))).toEqual([]);
  });

  it('rooms are few enough to be known by heart', () => {
    const rooms = [...new Set(files.map(({ path }) => roomOf(path)))];
    expect(rooms.filter((room) => !/^(server\/|\()/.test(room)).length).toBeLessThanOrEqual(16);
    expect(rooms.filter((room) => room.startsWith('server/')).length).toBeLessThanOrEqual(12);
  });

  it('files have no import cycle', () => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const done = new Set<string>();
    const visit = (path: string, trail: string[]): void => {
      if (trail.includes(path)) throw new Error(`Cycle: ${[...trail, path].join(' -> ')}`);
      if (done.has(path)) return;
      for (const next of byPath.get(path)?.imports ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const { path } of files) visit(path, []);
  });

  it('every spec runs in exactly one suite', () => {
    const patterns = Object.values({ ...SUITES, ...ONE_DATABASE_SUITES });
    for (const path of specs())
      expect([path, patterns.filter((pattern) => pattern.test(path)).length]).toEqual([path, 1]);
    const called = readdirSync(join(ROOT, 'test', 'suites')).map((file) => file.replace('.ts', ''));
    expect(called.sort()).toEqual(Object.keys({ ...SUITES, ...ONE_DATABASE_SUITES, ...MYSQL_SUITE }).sort());
  });

  it('private parts of packages are used in one file for each package', () => {
    // Each with a test that fails when the package changes: the metrics of connections, service.adapter.spec.ts, all on SQLite.
    const privateField = /[.{,\s]_[a-z]\w+\b(?=[?:.,; ])/;
    expect(paths(files.filter(({ text }) => privateField.test(text))).sort()).toEqual([
      'database/mysql/mysql.dialect.ts',
      'server/service.adapter.ts',
    ]);
    const deepImport = /^import (?!type)[^;]* from '(?:typeorm|express|pg|@nestjs\/[\w-]+|class-\w+)\//m;
    expect(paths(files.filter(({ text }) => deepImport.test(text)))).toEqual([
      'database/sqlite/sqlite.driver.ts',
    ]);
  });

  it('the source has no room for odds and ends', () => {
    expect(paths(files.filter(({ path }) => /(^|\/)(utils|helpers|shared|types)\//.test(path)))).toEqual([]);
  });

  it('the source loosens no type and no rule', () => {
    const loose = /:\s*any\b|\bas any\b|@ts-(ignore|nocheck|expect-error)|eslint-disable/;
    expect(paths(files.filter(({ text }) => loose.test(text)))).toEqual([]);
  });
});
