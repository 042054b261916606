import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildService } from '../support/child-service';
import { FreshPlace } from '../support/fresh-place';
import { startPostgres } from '../support/postgres-server';
import { postgresFolder } from '../support/server-binaries.js';

describe('a start', () => {
  const place = new FreshPlace();

  it('a start says where it is, and the first one says the password it made, once', async () => {
    const first = ChildService.spawn(place.settings(), place.database.folder);
    await first.untilReady();
    expect(first.printed).toMatch(new RegExp(`API +http://127.0.0.1:${place.port}\n`));
    expect(first.printed).toMatch(new RegExp(`Swagger UI +http://127.0.0.1:${place.port}/docs\n`));
    expect(first.printed).toMatch(/Database +(SQLite|MySQL) /);
    const password = /Admin +admin \/ (\S{24}) /.exec(first.printed)?.[1];
    expect(password).toBeDefined();
    expect((await first.anonymous.get('/docs')).status).toBe(200);
    expect(await first.stop()).toBe(0);

    const second = ChildService.spawn(place.settings(), place.database.folder);
    await second.untilReady();
    expect(second.printed).not.toMatch(/Admin/);
    await second.stop();
  });

  it('a start that fails at the port still tells the password it made', async () => {
    const taken = createServer().listen(Number(place.port), '127.0.0.1');
    const service = ChildService.spawn(place.settings(), place.database.folder);
    expect(await service.ended()).toBe(1);
    expect(service.printed).toMatch(/Admin +admin \/ \S{24} .*EADDRINUSE/s);
    taken.close();
  });

  const bin = postgresFolder();
  if (bin !== undefined)
    it('a start without the password that PostgreSQL asks for says so', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tenantry-hba-'));
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, 'hba'), 'host all somebody all scram-sha-256\nhost all all all trust\n');
      const server = await startPostgres(bin, { settings: [`hba_file=${join(folder, 'hba')}`] });
      const DATABASE_URL = `${server.url.replace('postgres@', 'somebody@')}/postgres`;
      const service = ChildService.spawn({ ...place.settings(), DATABASE_URL }, place.database.folder);
      expect(await service.ended()).toBe(1);
      expect(service.printed).toContain(
        'The database server asks for a password, and DATABASE_URL has none.',
      );
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
});
