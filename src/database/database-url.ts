import { isIP } from 'node:net';

export interface DatabaseTls {
  /** File with the certificates that are trusted; without it, those of the authorities that Node knows. */
  readonly caFile?: string;
  /** Whether the certificate must be one for the host that the address names. */
  readonly checkHost: boolean;
}

export interface MysqlLocation {
  readonly kind: 'mysql';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Absent: the connection is not encrypted. */
  readonly tls?: DatabaseTls;
}

/** Where the data lives, as read from `DATABASE_URL`. */
export type DatabaseLocation = { readonly kind: 'sqlite'; readonly path: string } | MysqlLocation;

const SHAPE =
  'must be sqlite:<file> or mysql://user:password@host:3306/database?ssl=true (special characters percent-encoded)';
const OPTIONS = ['ssl', 'ssl-ca', 'ssl-verify'];

/** Reads a database address; throws an `Error` whose message never repeats the address (it holds a password). */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  if (url.startsWith('sqlite:')) return sqliteLocation(url.slice('sqlite:'.length));
  if (/^(mysql|mariadb):\/\//.test(url) && URL.canParse(url)) return mysqlLocation(new URL(url));
  throw new Error(SHAPE);
}

/** A location as it may be shown to people: without the password. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return `SQLite ${location.path}`;
  const { username, host, port, database, tls } = location;
  const security = !tls ? '' : tls.checkHost ? ' (TLS)' : ' (TLS, host name not checked)';
  return `MySQL ${username}@${host}:${port}/${database}${security}`;
}

function sqliteLocation(rest: string): DatabaseLocation {
  const path = rest.replace(/^\/\/(?=\/)/, '');
  // In memory there is no second connection to read from, and nothing would outlive the process.
  if (path === '' || path.startsWith(':')) throw new Error(SHAPE);
  return { kind: 'sqlite', path };
}

function mysqlLocation(url: URL): MysqlLocation {
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!url.hostname || !database || database.includes('/') || url.hash) throw new Error(SHAPE);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = readTls(url.searchParams, host);
  return {
    kind: 'mysql',
    host,
    port: url.port ? Number(url.port) : 3306,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...(tls && { tls }),
  };
}

/** An option that was ignored, such as one about TLS, would be worse than none: what is not known is refused. */
function readTls(options: URLSearchParams, host: string): DatabaseTls | undefined {
  for (const name of options.keys()) {
    if (!OPTIONS.includes(name))
      throw new Error(`${unknownOption(name)}; the options are ${OPTIONS.join(', ')}`);
    if (options.getAll(name).length > 1) throw new Error(`has the option ${name} twice`);
  }
  const [ssl, caFile, verify] = OPTIONS.map((name) => options.get(name));
  if (ssl != null && ssl !== 'true' && ssl !== 'false')
    throw new Error('has an option ssl that is not true or false');
  if (ssl !== 'true') {
    if (caFile != null || verify != null) throw new Error('has options about TLS, so it needs ssl=true');
    return undefined;
  }
  if (caFile === '') throw new Error('has an option ssl-ca without a file');
  if (verify != null && (verify !== 'ca' || caFile == null))
    throw new Error('may have ssl-verify=ca, together with ssl-ca=<file>, and no other ssl-verify');
  const checkHost = verify == null;
  // The driver would look for the name `localhost` in the certificate.
  if (checkHost && isIP(host) !== 0)
    throw new Error(
      'with ssl=true needs the name of the host, not its IP address: certificates are issued for names',
    );
  return { checkHost, ...(caFile != null && { caFile }) };
}

/** A part of a password that was not encoded may stand where an option is expected. */
function unknownOption(name: string): string {
  return /^[a-z][a-z_-]{0,30}$/i.test(name) ? `has the unknown option ${name}` : 'has an unknown option';
}
