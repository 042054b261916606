import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitSilence } from '../../src/database/silence-limit';
import { dialectOf } from '../../src/database/dialects';
import { throwAwayDatabase } from '../../src/server/testing';
import { Authority } from '../support/certificates';
import { ChildService } from '../support/child-service';
import { mariadbBinary } from '../support/server-binaries.js';
import { startTlsMariadb, type MariadbServer } from '../support/mariadb-server';
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
  it('does not start with a file of authorities that cannot be read', async () => {
    const printed = await refusal('mysql://u:p@localhost/d?ssl=true&ssl-ca=/nowhere/ca.pem');
    expect(printed).toMatch(/did not start.*ssl-ca cannot be read.*ENOENT.*\/nowhere\/ca\.pem/);
  });

  it('does not start with an option that it does not know, and names it', async () => {
    const printed = await refusal('mysql://u:pw-123@localhost/d?sslmode=require');
    expect(printed).toMatch(/DATABASE_URL: has the unknown option sslmode/);
    expect(printed).not.toContain('pw-123');
  });

  const binary = mariadbBinary();
  if (binary === undefined) return;

  describe('of a server that takes nothing else', () => {
    let folder: string;
    let authority: Authority;
    let stranger: Authority;
    let server: MariadbServer;
    const address = (options: string) => `${server.url.replace('127.0.0.1', 'localhost')}${options}`;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'tenantry-certificates-'));
      authority = new Authority(folder, 'authority');
      stranger = new Authority(folder, 'stranger');
      server = await startTlsMariadb(binary, authority.issue('localhost'));
    });
    afterAll(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it.each(['', '&ssl-verify=ca'])('serves, migrates and examines, all encrypted (%p)', async (more) => {
      const options = `?ssl=true&ssl-ca=${authority.file}${more}`;
      const database = await throwAwayDatabase({ server: address(options) });
      const service = await ServiceUnderTest.on(database);
      const [status] = await service.dataSource.query<{ Value: string }[]>("SHOW STATUS LIKE 'Ssl_cipher'");
      expect(status?.Value).toMatch(/^TLS_|^ECDHE/);
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
    });

    it('is asked for: without it the server refuses the same user', async () => {
      expect(await refusal(address('/mysql'))).toMatch(/did not start.*(insecure transport|Access denied)/);
    });

    it('refuses a certificate of an authority that is not trusted, and says what to do', async () => {
      const told = /certificate of the database server was refused:.*certificate.*ssl-ca=/;
      for (const options of ['ssl=true', `ssl=true&ssl-ca=${stranger.file}`])
        expect(await refusal(address(`/mysql?${options}`))).toMatch(told);
    });

    it('refuses a certificate for another host, unless told not to look', async () => {
      const other = await startTlsMariadb(binary, authority.issue('db.example.com'));
      const url = other.url.replace('127.0.0.1', 'localhost');
      const options = `ssl=true&ssl-ca=${authority.file}`;
      const told = /was refused: Hostname\/IP does not match.*db\.example\.com/;
      expect(await refusal(`${url}/mysql?${options}`)).toMatch(told);
      const database = await throwAwayDatabase({ server: `${other.url}?${options}&ssl-verify=ca` });
      const service = await ServiceUnderTest.on(database);
      expect((await service.anonymous.get('/health/ready')).status).toBe(200);
      await service.stop();
      await other.stop();
    });
  });
});
