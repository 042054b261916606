/** Where the data lives, as read from `DATABASE_URL`. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'mysql';
      readonly host: string;
      readonly port: number;
      readonly username: string;
      readonly password: string;
      readonly database: string;
    };

const SHAPE =
  'must be sqlite:<file> or mysql://user:password@host:3306/database (special characters percent-encoded, no options)';

/** Reads a database address; throws an `Error` whose message never repeats the address (it holds a password). */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  if (url.startsWith('sqlite:')) return sqliteLocation(url.slice('sqlite:'.length));
  if (/^(mysql|mariadb):\/\//.test(url) && URL.canParse(url)) return mysqlLocation(new URL(url));
  throw new Error(SHAPE);
}

/** A location as it may be shown to people: without the password. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return `SQLite ${location.path}`;
  return `MySQL ${location.username}@${location.host}:${location.port}/${location.database}`;
}

function sqliteLocation(rest: string): DatabaseLocation {
  const path = rest.replace(/^\/\/(?=\/)/, '');
  // In memory there is no second connection to read from, and nothing would outlive the process.
  if (path === '' || path.startsWith(':')) throw new Error(SHAPE);
  return { kind: 'sqlite', path };
}

function mysqlLocation(url: URL): DatabaseLocation {
  const database = decodeURIComponent(url.pathname.slice(1));
  // An option that was silently ignored, such as one about TLS, would be worse than none.
  if (!url.hostname || !database || database.includes('/') || url.search || url.hash) throw new Error(SHAPE);
  return {
    kind: 'mysql',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port ? Number(url.port) : 3306,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
  };
}
