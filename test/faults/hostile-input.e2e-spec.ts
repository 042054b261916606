import { throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { faultsSeed } from '../support/chance';
import { ChildService } from '../support/child-service';
import { runHostile } from '../support/hostile/run';
import { hostileWorld } from '../support/hostile/world';
import { memoryMb } from '../support/process-memory';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

/** Twice what it takes after a thousand requests would be a leak: a service that serves real work needs as much. */
const GROWTH = 2;
const WARM_UP = 1000;

describe('hostile input at length', () => {
  it.each<[string, () => Promise<ThrowAwayDatabase>, number]>([
    ['MariaDB', emptyDatabase, 20_000],
    ['SQLite', throwAwayDatabase, 5_000],
  ])('on %s is always answered in the envelope, never by a failure', async (name, makeDatabase, count) => {
    const seed = faultsSeed(`hostile input on ${name}`);
    const database = await makeDatabase();
    const child = await ChildService.start(database);
    const pid = child.process.pid!;
    const dataSource = await database.open();
    const run = {
      baseUrl: child.anonymous.baseUrl,
      callers: await hostileWorld(dataSource, child.anonymous),
      seed,
    };

    const warmUp = await runHostile({ ...run, count: WARM_UP });
    expect(warmUp.problems).toEqual([]);
    const before = memoryMb(pid, 'VmRSS');
    const began = Date.now();
    const report = await runHostile({ ...run, count });
    const seconds = Math.round((Date.now() - began) / 1000);
    const after = memoryMb(pid, 'VmRSS');
    process.stderr.write(
      `${name}: ${count} requests in ${seconds} s, the slowest ${report.slowestMs} ms, ${Math.round(before)} MB before ` +
        `and ${Math.round(after)} MB after, ${JSON.stringify(report.statuses)}\n`,
    );
    expect(report.problems).toEqual([]);
    expect(after).toBeLessThan(before * GROWTH);

    // Alive, by its own process, and sound.
    expect(child.process.exitCode).toBeNull();
    expect((await child.as().get('/system/dept-api?limit=1')).status).toBe(200);
    expect(child.printed).not.toMatch(/"level":(50|60)/);
    expect(await runCli(database, ['doctor'])).toMatchObject({ code: 0 });
    expect(await child.stop()).toBe(0);
    await database.drop();
  });
});
