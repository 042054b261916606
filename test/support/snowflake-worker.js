/* Makes ids in a process of its own: node snowflake-worker.js <database url> <count> <step the clock back?> */
const { createDataSource } = require('../../dist/database/data-source.js');
const { parseDatabaseUrl } = require('../../dist/config/database-url.js');
const { UnitOfWork } = require('../../dist/database/unit-of-work.js');
const { SilentMeter } = require('../../dist/metrics/meter.js');
const { IdBlockRepository } = require('../../dist/tenant/id-block.repository.js');
const { TenantIds } = require('../../dist/tenant/tenant-ids.js');

const [url, count, stepBack] = process.argv.slice(2);

// All processes draw the same worker number: only what the database gives away keeps their ids apart.
require('node:crypto').randomInt = () => 7;

async function main() {
  const dataSource = await (await createDataSource(parseDatabaseUrl(url))).initialize();
  let offset = 0;
  const clock = { now: () => new Date(Date.now() + offset) };
  const blocks = new IdBlockRepository(new UnitOfWork(dataSource, undefined, clock, new SilentMeter()));
  let ids = new TenantIds(blocks, clock);
  const made = [];
  for (let n = 0; n < Number(count); n += 1) {
    if (stepBack && n === Math.floor(count / 3)) offset = -3_600_000;
    // A restart, with the clock still an hour behind.
    if (n === Math.floor((2 * count) / 3)) ids = new TenantIds(blocks, clock);
    made.push(await ids.next());
  }
  await dataSource.destroy();
  await new Promise((resolve) => process.stdout.write(`${made.join('\n')}\n`, resolve));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
