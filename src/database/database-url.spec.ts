import { describeDatabase, parseDatabaseUrl } from './database-url';

describe('DATABASE_URL', () => {
  it.each([
    ['sqlite:./data/x.sqlite', './data/x.sqlite'],
    ['sqlite:/var/lib/x.sqlite', '/var/lib/x.sqlite'],
    ['sqlite:///var/lib/x.sqlite', '/var/lib/x.sqlite'],
  ])('reads the file in %s', (url, path) => {
    expect(parseDatabaseUrl(url)).toEqual({ kind: 'sqlite', path });
  });

  it.each(['mysql', 'mariadb'])('reads a %s address with escaped credentials', (scheme) => {
    expect(parseDatabaseUrl(`${scheme}://a%40b:p%2Fw@[::1]/org`)).toEqual({
      kind: 'mysql',
      host: '::1',
      port: 3306,
      username: 'a@b',
      password: 'p/w',
      database: 'org',
    });
  });

  it.each(['postgres', 'postgresql'])('reads a %s address', (scheme) => {
    expect(parseDatabaseUrl(`${scheme}://me:p%2Fw@db/org`)).toEqual({
      ...{ kind: 'postgres', host: 'db', port: 5432, username: 'me', password: 'p/w', database: 'org' },
    });
  });

  it.each([
    '',
    'sqlite:',
    'sqlite::memory:',
    'mysql://h',
    'mysql://u:p@h/',
    'mysql:nothing',
    'postgres://u@h',
    'pg://u@h/d',
    'postgres://u:p%zz@h/d',
    'postgres://u@%2Fvar%2Frun%2Fpostgresql/d',
  ])('a database address is refused: %p', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow('must be sqlite:');
  });

  describe('with TLS', () => {
    const at = (rest: string) => parseDatabaseUrl(`mysql://me:secret@${rest}`);

    it.each([
      ['db/org', undefined],
      ['db/org?ssl=false', undefined],
      ['10.0.0.5/org?ssl=false', undefined],
      ['db/org?ssl=true', { checkHost: true }],
      ['db/org?ssl=true&ssl-ca=%2Fetc%2Fca.pem', { checkHost: true, caFile: '/etc/ca.pem' }],
      ['db/org?ssl-ca=/etc/my%20ca.pem&ssl=true', { checkHost: true, caFile: '/etc/my ca.pem' }],
      ['10.0.0.5/org?ssl=true&ssl-ca=ca.pem&ssl-verify=ca', { checkHost: false, caFile: 'ca.pem' }],
      [
        'db/org?ssl=true&ssl-cert=me.pem&ssl-key=me.key',
        { checkHost: true, own: { certFile: 'me.pem', keyFile: 'me.key' } },
      ],
    ])('options of TLS are read: %s', (rest, tls) => {
      expect(at(rest)).toEqual({
        ...{ kind: 'mysql', port: 3306, username: 'me', password: 'secret', database: 'org' },
        ...{ host: rest.split('/')[0], ...(tls && { tls }) },
      });
    });

    it.each([
      ['db/org?sslmode=require', 'unknown option sslmode'],
      ['db/org?ssl=true&rejectUnauthorized=false', 'unknown option rejectUnauthorized'],
      ['db/org?SSL=true', 'unknown option SSL'],
      ['db/org?charset=latin1', 'the options are ssl, ssl-ca, ssl-verify, ssl-cert, ssl-key'],
      ['db/org?ssl=true&ssl-cert=me.pem', 'both ssl-cert and ssl-key'],
      ['db/org?ssl=true&ssl-cert=me.pem&ssl-key=', 'ssl-key without a file'],
      ['db/org?ssl-cert=me.pem&ssl-key=me.key', 'needs ssl=true'],
      ['db/org?ssl=true&sslcert=me.pem&sslkey=me.key', 'unknown option sslcert'],
      ['db/org?ssl', 'ssl that is not true or false'],
      ['db/org?ssl=1', 'ssl that is not true or false'],
      ['db/org?ssl=true&ssl=false', 'the option ssl twice'],
      ['db/org?ssl-ca=ca.pem', 'needs ssl=true'],
      ['db/org?ssl=false&ssl-ca=ca.pem', 'needs ssl=true'],
      ['db/org?ssl=true&ssl-ca=', 'ssl-ca without a file'],
      ['db/org?ssl=true&ssl-verify=false', 'no other ssl-verify'],
      ['db/org?ssl=true&ssl-verify=ca', 'together with ssl-ca=<file>'],
      ['10.0.0.5/org?ssl=true', 'not its IP address'],
      ['[::1]/org?ssl=true&ssl-ca=ca.pem', 'not its IP address'],
      ['db/org?ssl=true#x', 'must be sqlite:'],
    ])('options of TLS are refused: %s', (rest, message) => {
      expect(() => at(rest)).toThrow(message);
    });

    it('a refusal of TLS names the options of the database that is asked for', () => {
      const refusal =
        'the options are ssl, ssl-ca, ssl-verify, ssl-cert, ssl-key, sslmode, sslrootcert, sslcert, sslkey, schema';
      expect(() => parseDatabaseUrl('postgres://me@db/org?application_name=x')).toThrow(refusal);
    });

    it.each([
      ['ssl=true&ssl-ca=ca.pem', { checkHost: true, caFile: 'ca.pem' }],
      ['sslmode=disable', undefined],
      ['sslmode=require', { checkHost: true }],
      ['sslmode=verify-full&sslrootcert=ca.pem', { checkHost: true, caFile: 'ca.pem' }],
      ['sslrootcert=ca.pem&sslmode=verify-ca', { checkHost: false, caFile: 'ca.pem' }],
      ['ssl=true&sslrootcert=ca.pem', { checkHost: true, caFile: 'ca.pem' }],
      ['ssl=true&sslcert=a&sslkey=b', { checkHost: true, own: { certFile: 'a', keyFile: 'b' } }],
    ])('options of TLS of PostgreSQL are read: ?%s', (options, tls) => {
      const location = parseDatabaseUrl(`postgres://me@db/org?${options}`);
      expect('tls' in location ? location.tls : undefined).toEqual(tls);
    });

    it.each([
      ['sslmode=prefer', 'one sslmode of disable, require, verify-ca, verify-full'],
      ['sslmode=no-verify', 'one sslmode of'],
      ['sslmode=', 'one sslmode of'],
      ['sslmode=require&sslmode=disable', 'one sslmode of'],
      ['sslmode=disable&ssl=true', 'no ssl beside it'],
      ['sslmode=verify-ca', 'together with ssl-ca=<file>'],
      ['sslmode=disable&sslrootcert=ca.pem', 'needs ssl=true'],
      ['sslrootcert=ca.pem', 'needs ssl=true'],
      ['ssl=true&ssl-ca=a.pem&sslrootcert=b.pem', 'the option ssl-ca twice'],
      ['sslmode=require&sslrootcert=a.pem&sslrootcert=b.pem', 'twice'],
      ['sslmode=require&sslcert=x', 'both ssl-cert and ssl-key'],
      ['sslmode=require&sslcert=x&ssl-cert=x&sslkey=x', 'the option ssl-cert twice'],
      ['sslmode=require&sslpassword=x', 'unknown option sslpassword'],
    ])('options of TLS of PostgreSQL are refused: ?%s', (options, message) => {
      expect(() => parseDatabaseUrl(`postgres://me@db/org?${options}`)).toThrow(message);
    });

    it('a refusal of TLS does not repeat what may be a part of a password', () => {
      expect(() => parseDatabaseUrl('mysql://u:12/x?secret@h/d')).toThrow(/^has an unknown option;/);
    });
  });

  it('a database address is never shown with its password', () => {
    expect(describeDatabase(parseDatabaseUrl('mysql://me:secret@db:3307/org'))).toBe('MySQL me@db:3307/org');
    expect(describeDatabase(parseDatabaseUrl('postgres://me:secret@db/org'))).toBe(
      'PostgreSQL me@db:5432/org',
    );
    const secure = 'mysql://me:secret@db/org?ssl=true';
    expect(describeDatabase(parseDatabaseUrl(secure))).toBe('MySQL me@db:3306/org (TLS)');
    expect(describeDatabase(parseDatabaseUrl(`${secure}&ssl-ca=x&ssl-verify=ca`))).toBe(
      'MySQL me@db:3306/org (TLS, host name not checked)',
    );
  });

  it('a database address takes a schema of PostgreSQL, and of no other', () => {
    expect(parseDatabaseUrl('postgres://u@db/org?schema=hr')).toMatchObject({ schema: 'hr' });
    for (const url of [
      'mysql://u@db/org?schema=hr',
      'postgres://u@db/org?schema=',
      'postgres://u@db/org?schema=a&schema=b',
    ])
      expect(() => parseDatabaseUrl(url)).toThrow('schema');
  });
});
