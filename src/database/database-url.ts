import { isIP } from 'node:net';

export interface DatabaseTls {
  /** File with the certificates that are trusted; without it, those of the authorities that Node knows. */
  readonly caFile?: string;
  /** Files with the certificate that the service shows, and with its key. */
  readonly own?: { readonly certFile: string; readonly keyFile: string };
  /** Whether the certificate must be one for the host that the address names. */
  readonly checkHost: boolean;
}

/** A database on a server. */
export interface ServerLocation {
  readonly kind: 'mysql' | 'postgres';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** On PostgreSQL, where not the first in the user's search path. */
  readonly schema?: string;
  /** Absent: the connection is not encrypted. */
  readonly tls?: DatabaseTls;
  /** How many connections a pool opens at most; default 20. */
  readonly connections?: number;
}

/** Where the data lives, as read from `DATABASE_URL`. */
export type DatabaseLocation = { readonly kind: 'sqlite'; readonly path: string } | ServerLocation;

const SHAPE =
  'must be sqlite:<file>, mysql://user:password@host:3306/database or postgres://user:password@host:5432/database, ' +
  'with ?ssl=true for TLS (special characters percent-encoded)';
const OPTIONS = ['ssl', 'ssl-ca', 'ssl-verify', 'ssl-cert', 'ssl-key'];
/** PostgreSQL's own names of the options that name files. */
const POSTGRES_FILES = { sslrootcert: 'ssl-ca', sslcert: 'ssl-cert', sslkey: 'ssl-key' };
const POSTGRES_OPTIONS = [...OPTIONS, 'sslmode', ...Object.keys(POSTGRES_FILES), 'schema'];
/** The words of PostgreSQL's own addresses, in those above. `require` checks the certificate, too. */
const SSL_MODES: Readonly<Partial<Record<string, string>>> = {
  disable: 'ssl=false',
  require: 'ssl=true',
  'verify-ca': 'ssl=true&ssl-verify=ca',
  'verify-full': 'ssl=true',
};

/** Reads a database address; throws an `Error` whose message never repeats the address (it holds a password). */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  if (url.startsWith('sqlite:')) return sqliteLocation(url.slice('sqlite:'.length));
  if (/^(mysql|mariadb):\/\//.test(url) && URL.canParse(url))
    return serverLocation('mysql', 3306, new URL(url));
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url))
    return serverLocation('postgres', 5432, withoutSslMode(new URL(url)));
  throw new Error(SHAPE);
}

/** A location as it may be shown to people: without the password. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return `SQLite ${location.path}`;
  const { kind, username, host, port, database, tls } = location;
  const security = !tls ? '' : tls.checkHost ? ' (TLS)' : ' (TLS, host name not checked)';
  return `${kind === 'mysql' ? 'MySQL' : 'PostgreSQL'} ${username}@${host}:${port}/${database}${security}`;
}

/** For the `catch` of what opens or migrates a database: the driver's words name neither the setting nor the file. */
export const tellDatabase =
  (location: DatabaseLocation) =>
  (error: unknown): never => {
    const problem = `DATABASE_URL: the database ${describeDatabase(location)} cannot be used`;
    throw new Error(`${problem}: ${(error as Error).message}`, { cause: error });
  };

function sqliteLocation(rest: string): DatabaseLocation {
  const path = rest.replace(/^\/\/(?=\/)/, '');
  // In memory there is no second connection to read from, and nothing would outlive the process.
  if (path === '' || path.startsWith(':')) throw new Error(SHAPE);
  return { kind: 'sqlite', path };
}

function serverLocation(kind: ServerLocation['kind'], defaultPort: number, url: URL): ServerLocation {
  const [database = '', username = '', password = ''] = decoded(
    url.pathname.slice(1),
    url.username,
    url.password,
  );
  // A host that is encoded is the path of a Unix socket.
  const hasHost = url.hostname !== '' && !url.hostname.includes('%');
  if (!hasHost || !database || database.includes('/') || url.hash) throw new Error(SHAPE);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const schema = kind === 'postgres' ? takeSchema(url.searchParams) : undefined;
  const tls = readTls(url.searchParams, host, kind === 'postgres' ? POSTGRES_OPTIONS : OPTIONS);
  return {
    kind,
    host,
    port: url.port ? Number(url.port) : defaultPort,
    username,
    password,
    database,
    ...(schema !== undefined && { schema }),
    ...(tls && { tls }),
  };
}

function decoded(...parts: string[]): string[] {
  try {
    return parts.map(decodeURIComponent);
  } catch {
    throw new Error(SHAPE);
  }
}

function takeSchema(options: URLSearchParams): string | undefined {
  const [schema, another] = options.getAll('schema');
  if (schema === '' || another !== undefined) throw new Error('may have one schema=<name>');
  options.delete('schema');
  return schema;
}

function withoutSslMode(url: URL): URL {
  const { searchParams: options } = url;
  const mode = options.get('sslmode');
  if (mode !== null) {
    const meaning = SSL_MODES[mode];
    if (!meaning || options.has('ssl') || options.getAll('sslmode').length > 1)
      throw new Error(`may have one sslmode of ${Object.keys(SSL_MODES).join(', ')}, and no ssl beside it`);
    for (const [name, value] of new URLSearchParams(meaning)) options.append(name, value);
    options.delete('sslmode');
  }
  for (const [name, meaning] of Object.entries(POSTGRES_FILES)) {
    for (const file of options.getAll(name)) options.append(meaning, file);
    options.delete(name);
  }
  return url;
}

/** An option that was ignored, such as one about TLS, would be worse than none: what is not known is refused. */
function readTls(
  options: URLSearchParams,
  host: string,
  allNames: readonly string[],
): DatabaseTls | undefined {
  for (const name of options.keys()) {
    if (!OPTIONS.includes(name))
      throw new Error(`${unknownOption(name)}; the options are ${allNames.join(', ')}`);
    if (options.getAll(name).length > 1) throw new Error(`has the option ${name} twice`);
  }
  const [ssl, caFile, verify, certFile, keyFile] = OPTIONS.map((name) => options.get(name));
  if (ssl != null && ssl !== 'true' && ssl !== 'false')
    throw new Error('has an option ssl that is not true or false');
  if (ssl !== 'true') {
    if ([caFile, verify, certFile, keyFile].some((value) => value != null))
      throw new Error('has options about TLS, so it needs ssl=true');
    return undefined;
  }
  for (const name of ['ssl-ca', 'ssl-cert', 'ssl-key'])
    if (options.get(name) === '') throw new Error(`has an option ${name} without a file`);
  if ((certFile == null) !== (keyFile == null))
    throw new Error('needs both ssl-cert and ssl-key, or neither');
  if (verify != null && (verify !== 'ca' || caFile == null))
    throw new Error('may have ssl-verify=ca, together with ssl-ca=<file>, and no other ssl-verify');
  const checkHost = verify == null;
  // The driver would look for the name `localhost` in the certificate.
  if (checkHost && isIP(host) !== 0)
    throw new Error(
      'with ssl=true needs the name of the host, not its IP address: certificates are issued for names',
    );
  const own = certFile != null && keyFile != null && { own: { certFile, keyFile } };
  return { checkHost, ...(caFile != null && { caFile }), ...own };
}

/** A part of a password that was not encoded may stand where an option is expected. */
function unknownOption(name: string): string {
  return /^[a-z][a-z_-]{0,30}$/i.test(name) ? `has the unknown option ${name}` : 'has an unknown option';
}
