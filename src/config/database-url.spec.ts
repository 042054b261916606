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

  it.each([
    '',
    'sqlite:',
    'sqlite::memory:',
    'mysql://h',
    'mysql://u:p@h/',
    'mysql:nothing',
    'postgres://u@h/d',
    'mysql://u:p@h/d?ssl=true',
  ])('refuses %p', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow('must be sqlite:');
  });

  it('is never shown with its password', () => {
    expect(describeDatabase(parseDatabaseUrl('mysql://me:secret@db:3307/org'))).toBe('MySQL me@db:3307/org');
  });
});
