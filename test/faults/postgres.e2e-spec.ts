import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { ServiceDoctor } from '../../src/server/account/service-doctor';
import { throwAwayDatabase } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { ChildService } from '../support/child-service';
import { openBeside } from '../support/crash-rounds';
import { startPostgres } from '../support/postgres-server';
import { postgresFolder } from '../support/server-binaries.js';
import { TcpProxy } from '../support/tcp-proxy';
import { WriteLoad } from '../support/write-load';

const run = promisify(execFile);
const BIN = postgresFolder()!;

async function ask(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: `${url}/postgres` });
  await client.connect();
  for (const sql of statements) await client.query(sql);
  await client.end();
}

/** As docs/operations.md tells an operator to do it. */
describe('PostgreSQL', () => {
  it('no write is lost or doubled when the primary of PostgreSQL dies under load and the standby is promoted', async () => {
    const primary = await startPostgres(BIN, { isDurable: true });
    const database = await throwAwayDatabase({ server: primary.url });
    const standby = await startPostgres(BIN, { isDurable: true, standbyOf: primary.url });
    await ask(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
    const { proxy, url } = await TcpProxy.before(database.url);
    const service = await ChildService.start({ ...database, url });
    const before = await openBeside(database);
    const chance = new Chance(faultsSeed('failover'));
    const load = await WriteLoad.on([() => service.anonymous], before, chance, { withoutKeys: true });
    await before.destroy();
    load.begin();
    await load.untilMore(100);
    await primary.end('SIGKILL');
    await ask(standby.url, 'SELECT pg_promote()');
    proxy.upstreamPort = standby.port;
    await load.untilMore(100);
    await load.rest();
    const after = await openBeside({ url: database.url.replace(String(primary.port), String(standby.port)) });
    const { findings } = await new ServiceDoctor(after).examine();
    const { acknowledged, retried } = load;
    console.log(`A failover under load: ${acknowledged} acknowledged, ${retried} sent again.`);
    expect([...(await load.problems(after)), ...(await load.untold(after)), ...findings]).toEqual([]);
    await after.destroy();
    expect(await service.stop()).toBe(0);
    await proxy.close();
    await standby.stop();
  });

  it('a backup of PostgreSQL by pg_dump, taken while clients write, is whole', async () => {
    const server = await startPostgres(BIN);
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-backup-'));
    const [source, target] = [
      await throwAwayDatabase({ server: server.url }),
      await throwAwayDatabase({ server: server.url }),
    ];
    const service = await ChildService.start(source);
    const dataSource = await openBeside(source);
    const load = await WriteLoad.on([() => service.anonymous], dataSource, new Chance(faultsSeed('backup')));
    load.begin();
    await load.untilMore(300);
    const acknowledged = load.deptIds;
    const dump = join(folder, 'tenantry.dump');
    await run(join(BIN, 'pg_dump'), ['--format=custom', `--file=${dump}`, `--dbname=${source.url}`]);
    await load.rest();
    await dataSource.destroy();
    await service.stop();
    await run(join(BIN, 'pg_restore'), [`--dbname=${target.url}`, '--exit-on-error', dump]);
    const restored = await ChildService.start({ ...target, folder: source.folder });
    const there = await openBeside(target);
    expect((await new ServiceDoctor(there).examine()).findings).toEqual([]);
    for (const deptId of acknowledged) {
      const rows = await there.query<unknown[]>('SELECT 1 FROM tenantry_dept WHERE dept_id = $1', [deptId]);
      expect(rows).toHaveLength(1);
    }
    expect((await restored.as().post('/system/dept-api', {})).status).toBe(200);
    await there.destroy();
    await restored.stop();
    await source.drop();
    await target.drop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
