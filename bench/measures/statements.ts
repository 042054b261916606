import type { DataSource } from 'typeorm';
import { mintToken } from '../../src/server/testing';
import { fillWithDepts } from '../../test/support/many-depts';
import { aTenantRow } from '../../test/support/seeds';
import { load, rawRequest } from '../support/load';
import { figureResult, type Measure } from '../support/result';
import { isAdmission, statementsOf } from '../support/statements';

const DEPTS = 500;
const TRIES = 3;

/** How many statements the database runs for reads by id. */
export const statements: Measure = {
  name: 'statements',
  async run(bed) {
    const dataSource = await bed.dataSource();
    const { port } = await bed.service();
    await countOf(dataSource, { port, connections: 32, requests: 500 });
    let alone = await countOf(dataSource, { port, connections: 1, requests: 500 });
    // On a slow machine the reads may take longer than what is remembered.
    for (let tries = 1; tries < TRIES && alone.admissions > 0; tries += 1)
      alone = await countOf(dataSource, { port, connections: 1, requests: 500 });
    const together = await countOf(dataSource, { port, connections: 32, requests: 2000 });
    const baseline = '';
    const [first, second] = [
      figureResult(
        { work: 'SQL statements per read, one after the other', baseline, bound: 1 },
        alone.all / 500,
        '',
        `${alone.all} for 500 reads`,
      ),
      figureResult(
        { work: 'SQL statements per read, 32 connections', baseline, bound: 1 },
        (together.all - together.admissions) / 2000,
        '',
        `${together.all} for 2,000 reads, ${together.admissions} of them for the state of the tenant, which is remembered for five seconds`,
      ),
    ];
    return [{ ...first, bound: '= 1', ok: alone.all === 500 }, second];
  },
};

interface Reads {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
}

async function countOf(dataSource: DataSource, reads: Reads): Promise<{ all: number; admissions: number }> {
  // A tenant of its own: what the service remembers of it for some seconds is fresh.
  const tenantId = await aTenantRow(dataSource);
  const base = await fillWithDepts(dataSource, tenantId, DEPTS);
  const token = mintToken({ tenantId });
  const request = (_: number, n: number): string =>
    rawRequest('GET', `/system/dept-api/${base + 1 + (n % DEPTS)}`, token);
  await load({ ...reads, connections: 1, requests: 1, request });
  const found = await statementsOf(dataSource, () => load({ ...reads, request }));
  return { all: found.length, admissions: found.filter(isAdmission).length };
}
