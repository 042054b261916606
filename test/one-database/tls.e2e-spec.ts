import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitSilence } from '../../src/database/silence-limit';
import { dialectOf } from '../../src/database/dialects';
import { throwAwayDatabase } from '../../src/server/testing';
import { Authority, type Certificate, type ServerCertificate } from '../support/certificates';
import { ChildService } from '../support/child-service';
import { startInnodb } from '../support/innodb-server';
import { mariadbBinary, mysqlBinary, postgresFolder } from '../support/server-binaries.js';
import { startPostgres } from '../support/postgres-server';
import { runCli } from '../support/run-cli';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const SETTINGS = { JWT_SECRET: 'x'.repeat(32), ADMIN_PASSWORD: 'admin-password', PORT: '0' };

async function refusal(DATABASE_URL: string): Promise<string> {
  const service = ChildService.spawn({ ...SETTINGS, DATABASE_URL });
  expect(await service.ended()).toBe(1);
  return service.printed;
}

describe('TLS to the database', () => {
  it('a service does not start with a file of authorities that cannot be read', async () => {
    const printed = await refusal('mysql://u:p@localhost/d?ssl=true&ssl-ca=/nowhere/ca.pem');
    expect(printed).toMatch(/did not start.*ssl-ca cannot be read.*ENOENT.*\/nowhere\/ca\.pem/);
  });

  it('a service does not start with both names of the same option', async () => {
    const printed = await refusal('postgres://u:pw-123@localhost/d?sslmode=require&ssl=false');
    expect(printed).toMatch(/DATABASE_URL: may have one sslmode of disable, require/);
    expect(printed).not.toContain('pw-123');
  });

  it('a service does not start with an option that it does not know, and names it', async () => {
    const printed = await refusal('mysql://u:pw-123@localhost/d?sslmode=require');
    expect(printed).toMatch(/DATABASE_URL: has the unknown option sslmode/);
    expect(printed).not.toContain('pw-123');
  });

  const innodb = [
    { name: 'MariaDB', binary: mariadbBinary(), statuses: 'information_schema' },
    { name: 'MySQL', binary: mysqlBinary(), statuses: 'performance_schema' },
  ];
  const bin = postgresFolder();
  const servers = [
    ...innodb.flatMap(({ name, binary, statuses }) =>
      binary === undefined
        ? []
        : [
            {
              name,
              start: (tls: ServerCertificate) => startInnodb(binary, { isDurable: true, tls }),
              database: '/mysql',
              trusting: 'ssl=true&ssl-ca=',
              trustingAnyHost: 'ssl=true&ssl-verify=ca&ssl-ca=',
              showing: ({ cert, key }: Certificate) => `&ssl-cert=${cert}&ssl-key=${key}`,
              account: ['CREATE USER certified REQUIRE X509', 'GRANT ALL ON *.* TO certified'],
              cipher: `SELECT variable_value AS cipher FROM ${statuses}.session_status WHERE variable_name = 'Ssl_cipher'`,
            },
          ],
    ),
    ...(bin === undefined
      ? []
      : [
          {
            name: 'PostgreSQL',
            start: (tls: ServerCertificate) => startPostgres(bin, { isDurable: true, tls }),
            database: '/postgres',
            trusting: 'sslmode=verify-full&sslrootcert=',
            trustingAnyHost: 'sslmode=verify-ca&sslrootcert=',
            showing: ({ cert, key }: Certificate) => `&sslcert=${cert}&sslkey=${key}`,
            account: ['CREATE ROLE certified LOGIN SUPERUSER'],
            cipher: 'SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
          },
        ]),
  ];
  if (servers.length === 0) return;

  describe.each(servers)('a $name that takes nothing but TLS', (kind) => {
    let folder: string;
    let authority: Authority;
    let stranger: Authority;
    let server: { readonly url: string; stop(): Promise<void> };
    const address = (options: string) => `${server.url.replace('127.0.0.1', 'localhost')}${options}`;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'tenantry-certificates-'));
      authority = new Authority(folder, 'authority');
      stranger = new Authority(folder, 'stranger');
      server = await kind.start({ ...authority.issue('localhost'), clientsOf: authority.file });
    });
    afterAll(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it.each([kind.trusting, kind.trustingAnyHost])(
      'a service serves, migrates and examines, all encrypted (%p)',
      async (options) => {
        const database = await throwAwayDatabase({ server: address(`?${options}${authority.file}`) });
        const service = await ServiceUnderTest.on(database);
        const [status] = await service.dataSource.query<{ cipher: string }[]>(kind.cipher);
        expect(status?.cipher).toMatch(/^TLS_|^ECDHE/);
        expect((await service.anonymous.get('/health/ready')).status).toBe(200);
        expect((await service.as().post('/system/dept-api', { deptName: '研发部' })).status).toBe(200);
        // A connection that is closed for its silence is replaced.
        limitSilence(service.dataSource, 50);
        await until(() => dialectOf(service.dataSource).poolState(service.dataSource).idle === 0);
        limitSilence(service.dataSource, 5000);
        expect((await service.as().post('/system/dept-api', { deptName: '市场部' })).status).toBe(200);
        const { code, out } = await runCli(database, ['doctor']);
        expect([code, out]).toEqual([0, 'The database is sound.\n']);
        await service.stop();
      },
    );

    it('a server that asks for TLS refuses the same user without it', async () => {
      const told = /did not start.*(insecure transport|Access denied|no encryption)/;
      expect(await refusal(address(kind.database))).toMatch(told);
    });

    it('a service does not start on a database that does not exist, and names it', async () => {
      const told =
        /DATABASE_URL: the database \w+ \S+@localhost:\d+\/nowhere \(TLS\) cannot be used: .*nowhere/;
      expect(await refusal(address(`/nowhere?${kind.trusting}${authority.file}`))).toMatch(told);
    });

    it('a service refuses a certificate of an authority that is not trusted, and says what to do', async () => {
      const told = /certificate of the database server was refused:.*certificate.*ssl-ca=/;
      for (const options of ['ssl=true', `ssl=true&ssl-ca=${stranger.file}`])
        expect(await refusal(address(`${kind.database}?${options}`))).toMatch(told);
    });

    it('a service shows the certificate that the server demands of its account', async () => {
      const admin = await throwAwayDatabase({ server: address(`?${kind.trusting}${authority.file}`) });
      const dataSource = await admin.open();
      for (const sql of kind.account) await dataSource.query(sql);
      await admin.drop();
      const own = authority.issue('certified');
      const as = (path: string, more = '') =>
        `${address(path).replace(/\/\/.*@/, '//certified@')}?${kind.trusting}${authority.file}${more}`;
      const database = await throwAwayDatabase({ server: as('', kind.showing(own)) });
      const service = await ServiceUnderTest.on(database);
      expect((await service.as().post('/system/dept-api', { deptName: '研发部' })).status).toBe(200);
      const { code, out } = await runCli(database, ['doctor']);
      expect([code, out]).toEqual([0, 'The database is sound.\n']);
      await service.stop();

      const refused = /did not start.*(Access denied|requires a valid client certificate)/;
      expect(await refusal(as(kind.database))).toMatch(refused);
      const [cert, { key }] = [own.cert, stranger.issue('certified')];
      const told = /did not start.*The files of ssl-ca, ssl-cert, ssl-key cannot be used \(.*mismatch/;
      expect(await refusal(as(kind.database, kind.showing({ cert, key })))).toMatch(told);
      const missing = /The file of ssl-key cannot be read \(ENOENT.*nowhere\.key/;
      expect(await refusal(as(kind.database, kind.showing({ cert, key: '/nowhere.key' })))).toMatch(missing);
    });

    it('a service refuses a certificate for another host, unless told not to look', async () => {
      const other = await kind.start(authority.issue('db.example.com'));
      const url = other.url.replace('127.0.0.1', 'localhost');
      const told = /was refused: Hostname\/IP does not match.*db\.example\.com/;
      expect(await refusal(`${url}${kind.database}?${kind.trusting}${authority.file}`)).toMatch(told);
      const server = `${other.url}?${kind.trustingAnyHost}${authority.file}`;
      const database = await throwAwayDatabase({ server });
      const service = await ServiceUnderTest.on(database);
      expect((await service.anonymous.get('/health/ready')).status).toBe(200);
      await service.stop();
      await other.stop();
    });
  });
});
