import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { times } from '../support/long-run';
import { ServiceUnderTest } from '../support/service-under-test';

const WORKER = join(__dirname, '..', 'support', 'snowflake-worker.js');
const run = promisify(execFile);
const COUNT = times(1_000_000, 60_000);

describe('snowflake ids', () => {
  it(`${COUNT} from four processes that restart, one with its clock stepping back an hour: no duplicate`, async () => {
    const service = await ServiceUnderTest.start();
    const outputs = await Promise.all(
      ['', '', '', 'back'].map((step) =>
        run(process.execPath, [WORKER, service.database.url, String(COUNT / 4), step], {
          maxBuffer: 64 * 1024 * 1024,
        }),
      ),
    );
    const ids = new Set<string>();
    for (const { stdout } of outputs) for (const id of stdout.trimEnd().split('\n')) ids.add(id);
    expect(ids.size).toBe(COUNT);
    await service.stop();
  });
});
