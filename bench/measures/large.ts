import { ApiClient } from '../../src/testing/api-client';
import type { DataSource } from 'typeorm';
import type { Bed } from '../support/bed';
import { interleave, spreadOf, type Side } from '../support/figures';
import { figureResult, ratioResult, type Measure, type Result } from '../support/result';
import { numbers, secondsAgo } from '../support/sql';
import { fillTenants, type Caller } from '../support/world';
import { READS, readingOn, SENT, WARM_UP } from './growth';

const DEPTS = 1_000_000;
const TENANTS = 100_000;
const ENTRIES = 1_000_000;
/** The departments that the journal tells of, by turns. */
const CHANGED = 1000;
/** Of the 500,000 that one request may look at: it looks twice at those about departments that it shows. */
const MOST_ENTRIES = 240_000;
const ROUNDS = 3;
const AGAINST = { baseline: '10 tenants of 1,000 departments', bound: null };
const DEPT_API = '/system/dept-api';
const CHANGE_API = '/system/change-api';

/** Reads whose cost the size could change, beside those that growth measures. */
const MORE_READS: typeof READS = {
  'page of 50 of a subtree': ({ firstDept }, n) => `${DEPT_API}?limit=50&ancestorId=${firstDept + (n % 10)}`,
  'page of 50 by a name': () => `${DEPT_API}?limit=50&deptName=${encodeURIComponent('部门 7')}`,
};

/**
 * A million departments in one tenant, among 100,000 tenants, and a million entries in one journal: what reads cost there, against a
 * database with ten tenants of 1,000. It is no part of a whole run.
 */
export const large: Measure = {
  name: 'large',
  async run(bed) {
    const small = bed.beside();
    const plan = { tenants: 10, depts: 1000, accounts: 10, childTenants: 5 };
    const few = await fillTenants(await small.dataSource(), plan);
    const dataSource = await bed.dataSource();
    const among = await fillTenants(dataSource, plan);
    const [one] = await fillTenants(dataSource, { ...plan, tenants: 1, depts: DEPTS });
    const [changed] = await fillTenants(dataSource, { tenants: 1, depts: CHANGED });
    const others = await fillTenants(dataSource, { tenants: TENANTS, depts: 1 });
    if (!one || !changed) throw new Error('There is no caller.');
    await addEntries(dataSource, changed);
    const [onLarge, onSmall] = [await readingOn(bed), await readingOn(small)];
    await bed.settle();
    const results: Result[] = [];
    const reads = Object.entries({ ...READS, ...MORE_READS });
    const warmUps = reads.map(([, path]) => [
      onLarge(among, path, WARM_UP / 2),
      onSmall(few, path, WARM_UP / 2),
    ]);
    await interleave(warmUps.flat(), 1);
    for (const [name, path] of reads) {
      const sides = [onLarge([one], path), onLarge(among, path), onSmall(few, path)];
      await interleave(sides, 1);
      const [ofOne = [], ofAmong = [], ofFew = []] = await interleave(sides, ROUNDS);
      results.push(ratioResult({ ...AGAINST, work: `${name}, of a million` }, ofOne, ofFew, 'µs CPU'));
      results.push(
        ratioResult({ ...AGAINST, work: `${name}, among 100,000 tenants` }, ofAmong, ofFew, 'µs CPU'),
      );
    }
    // Each caller once: nothing is known of it.
    const first: (typeof READS)[string] = ({ firstDept }) => `${DEPT_API}/${firstDept}`;
    const strangers: Side = () => onLarge(others.splice(0, SENT), first)();
    const sides = [strangers, onSmall(few, first)];
    await interleave(sides, 2);
    const [ofStrangers = [], ofFew = []] = await interleave(sides, ROUNDS);
    const heading = { work: 'department by id, each of 100,000 tenants once', ...AGAINST };
    results.push(ratioResult(heading, ofStrangers, ofFew, 'µs CPU'));
    return [...results, ...(await journalReads(bed, changed))];
  },
};

/** Changes of the leaders of a tenant's departments by turns, a second apart, until now. */
async function addEntries(dataSource: DataSource, { tenantId, firstDept, username }: Caller): Promise<void> {
  const fieldsOf = (leader: string, by: string) => `'{"leader":"', ${leader}, '","updateBy":"${by}"}'`;
  const [before, after] = [fieldsOf('s.seq', username), fieldsOf(`s.seq + ${CHANGED}`, username)];
  await dataSource.query(
    `INSERT INTO tenantry_change (tenant_id, version, seq, prev, kind, operation, resource_id, fields, changed_by,
       happened_at)
     SELECT '${tenantId}', s.seq, 0, s.seq - 1, 'dept', 'updated', ${firstDept} + (s.seq - 1) % ${CHANGED},
       CONCAT('{"before":', ${before}, ',"after":', ${after}, '}'), '${username}',
       ${secondsAgo(dataSource, `(${ENTRIES} - s.seq)`)} FROM ${numbers(dataSource, ENTRIES, 's')}`,
  );
  await dataSource.query(`UPDATE tenantry_tenant SET tree_ver = ${ENTRIES} WHERE tenant_id = '${tenantId}'`);
  await dataSource.query(
    `UPDATE tenantry_dept SET leader = ${ENTRIES + 1} + dept_id - ${firstDept}, update_by = '${username}'
      WHERE tenant_id = '${tenantId}'`,
  );
  await dataSource.query('ANALYZE TABLE tenantry_change, tenantry_dept, tenantry_tenant');
}

/** How long reads of the past take: they look at more entries the further they go back. */
async function journalReads(bed: Bed, { token, firstDept }: Caller): Promise<Result[]> {
  const api = new ApiClient((await bed.service()).baseUrl).as(token);
  const get = async (path: string): Promise<unknown> => {
    const { status, body, text } = await api.get(path);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return body.data;
  };
  const middle = new Date(Date.now() - (ENTRIES / 2) * 1000).toISOString();
  const first = (await get(`${CHANGE_API}?limit=100`)) as { nextCursor: string };
  const back = (entries: number) => `asOf=${ENTRIES - entries}`;
  const works: Record<string, string> = {
    'feed: the first page of 100': `${CHANGE_API}?limit=100`,
    'feed: the page after it': `${CHANGE_API}?limit=100&after=${first.nextCursor}`,
    'feed: the newest': `${CHANGE_API}?limit=100&after=now`,
    'feed: a page from the middle of the time': `${CHANGE_API}?limit=100&from=${middle}`,
    'history of one department, 50 entries': `${DEPT_API}/${firstDept}/history?limit=50`,
    'department as it was 10,000 entries ago': `${DEPT_API}/${firstDept}?${back(10_000)}`,
    'department as it was 990,000 entries ago': `${DEPT_API}/${firstDept}?${back(990_000)}`,
    'tree of 1,000 as it was 10,000 entries ago': `${DEPT_API}/tree?${back(10_000)}`,
    'tree of 1,000 as it was 240,000 entries ago': `${DEPT_API}/tree?${back(MOST_ENTRIES)}`,
    'diff over 10,000 entries': `${DEPT_API}/diff?limit=100&from=${ENTRIES - 10_000}`,
    'diff over 240,000 entries': `${DEPT_API}/diff?limit=100&from=${ENTRIES - MOST_ENTRIES}`,
  };
  const results: Result[] = [];
  for (const [work, path] of Object.entries(works)) {
    const side: Side = async () => {
      const start = performance.now();
      await get(path);
      return performance.now() - start;
    };
    await interleave([side], 2);
    const [took = []] = await interleave([side], ROUNDS);
    const heading = { work, baseline: 'a million entries', bound: null };
    results.push(figureResult(heading, spreadOf(took).median, 'ms'));
  }
  api.close();
  return results;
}
