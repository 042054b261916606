import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { ApiClient, mintToken, throwAwayDatabase } from '../../src/server/testing';
import { cpuMs } from '../support/process-cpu';
import { forgetPeak, memoryMb } from '../support/process-memory';
import { aTenantRow } from '../support/seeds';
import { MeasuredService, say, TELLS_TURNS, type Turn } from './support/measured-service';

const PATH = '/system/dept-api';
const AT_ONCE = 12;
/** Of `/health/live`, while they run. */
const HEALTH_MS = 100;
/** No turn of the event loop may hold more work. */
const TURN_MS = 50;
const HEAP_MB = 256;

/** What others notice of reads that run at the same time. */
interface Noticed {
  readonly statuses: Record<string, number>;
  readonly tookMs: number;
  /** Of the process for one of them, by itself. */
  readonly cpuMs: number;
  /** The longest answers of `/health/live`, and of a department of another tenant. */
  readonly healthMs: number;
  readonly readMs: number;
  readonly readRefused: number;
  readonly turn: Turn;
  readonly memoryMb: number;
}

/** The service as a process on a SQLite file, and what its callers notice. */
class LongReads {
  readonly #service: MeasuredService;
  #other = '';
  #otherDept = '';

  constructor(nodeOptions = '') {
    const env = { NODE_OPTIONS: `${TELLS_TURNS} ${nodeOptions}`, MAX_WAIT_MS: '2000' };
    this.#service = MeasuredService.use(env, throwAwayDatabase);
    beforeAll(async () => {
      this.#other = mintToken({ tenantId: await aTenantRow(this.dataSource) });
      const api = this.#service.child.anonymous.as(this.#other);
      this.#otherDept = (await api.post(PATH, { deptName: 'other' })).headers.location!;
    });
  }

  get dataSource(): DataSource {
    return this.#service.dataSource;
  }

  /** Twelve of a read at once. Answers are not held against the document: that would take this process long. */
  async twelve(tenantId: string, path: string): Promise<Noticed> {
    const { pid, child } = this.#service;
    const bare = new ApiClient(child.anonymous.baseUrl);
    // With connections of its own: the others must not wait for one of its twelve.
    const api = new ApiClient(child.anonymous.baseUrl, {
      authorization: `Bearer ${mintToken({ tenantId })}`,
    });
    await api.get(PATH + path);
    const before = cpuMs(pid);
    await api.get(PATH + path);
    const cpu = cpuMs(pid) - before;
    await this.#service.longestTurn();
    forgetPeak(pid);
    let isOver = false;
    const probe = async (client: ApiClient, asked: string) => {
      const seen = { longest: 0, refused: 0 };
      while (!isOver) {
        const begun = performance.now();
        const { status } = await client.get(asked);
        seen.longest = Math.max(seen.longest, performance.now() - begun);
        if (status !== 200) seen.refused += 1;
        await sleep(5);
      }
      return seen;
    };
    const probes = Promise.all([probe(bare, '/health/live'), probe(bare.as(this.#other), this.#otherDept)]);
    await sleep(50);
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => api.get(PATH + path)));
    const tookMs = performance.now() - begun;
    await sleep(50);
    isOver = true;
    const [health, read] = await probes;
    const statuses: Record<string, number> = {};
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
    api.close();
    bare.close();
    const noticed = {
      statuses,
      tookMs: Math.round(tookMs),
      cpuMs: cpu,
      healthMs: Math.round(health.longest),
      readMs: Math.round(read.longest),
      readRefused: read.refused,
      turn: await this.#service.longestTurn(),
      memoryMb: Math.round(memoryMb(pid, 'VmHWM')),
    };
    say(`${path}: ${JSON.stringify(noticed)}`);
    return noticed;
  }
}

const COUNT = (count: number) =>
  `WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < ${count})`;

/** So many departments below one, a hundred of them on the second level and the others in two levels below; gives the id of the top. */
async function fill(dataSource: DataSource, tenantId: string, count: number): Promise<number> {
  const [last] = await dataSource.query<{ last: number | null }[]>(
    'SELECT MAX(dept_id) AS last FROM tenantry_dept',
  );
  const top = (last?.last ?? 0) + 1;
  const middle = Math.max(200, Math.floor(count / 100));
  const parent = `CASE WHEN seq <= 100 THEN ${top} WHEN seq <= ${middle} THEN ${top + 1} + seq % 100
    ELSE ${top + 101} + seq % ${middle - 100} END`;
  const second = `(${top + 1} + (${parent} - ${top}) % 100)`;
  const insert = `INSERT INTO tenantry_dept (dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, leader,
    status, del_flag, create_by, create_time, update_by)`;
  const life = `'0', 'seed', '2026-01-01 00:00:00.000', ''`;
  await dataSource.query(
    `${insert} VALUES (${top}, '${tenantId}', 0, '0', 1, '总公司', 0, NULL, '0', ${life})`,
  );
  await dataSource.query(
    `${COUNT(count - 1)} ${insert} SELECT ${top} + seq, '${tenantId}', ${parent},
       CASE WHEN seq <= 100 THEN '0,${top}' WHEN seq <= ${middle} THEN '0,${top},' || (${parent})
         ELSE '0,${top},' || ${second} || ',' || (${parent}) END,
       CASE WHEN seq <= 100 THEN 2 WHEN seq <= ${middle} THEN 3 ELSE 4 END,
       '部门 ' || (seq * 7919 % 100003), seq * 7919 % 1000, CASE WHEN seq % 3 = 0 THEN 'leader ' || (seq % 30) END,
       CASE WHEN seq % 100 = 0 THEN '1' ELSE '0' END, ${life} FROM s`,
  );
  return top;
}

describe.each([20_000, 100_000])('reads of %i departments on SQLite, twelve at once', (count) => {
  const reads = new LongReads();
  let tenantId: string;
  let top: number;

  beforeAll(async () => {
    tenantId = await aTenantRow(reads.dataSource);
    top = await fill(reads.dataSource, tenantId, count);
  });

  it.each([
    ['a part of a name that nobody has', '?deptName=nobody'],
    ['a part of a name that many have', '?deptName=77&limit=500'],
    ['a part of a name that nobody has below one department', '?deptName=nobody&ancestorId=TOP'],
    ['a part of a name that many have below one department', '?deptName=7&ancestorId=TOP&limit=500'],
    ['two filters', '?deptName=nobody&status=0&leader=leader%203'],
    ['a tree by a part of a name that nobody has', '/tree?deptName=nobody'],
    ['a tree by a part of a name that many have', '/tree?deptName=7'],
    ['a tree by a part of a name below one department', '/tree?deptName=7&rootId=TOP'],
    ['a tree by status', '/tree?status=1'],
    ['the tree', '/tree'],
    ['the tree below one department', '/tree?rootId=PART'],
    ['some levels of the tree', '/tree?depth=2'],
  ])(`twelve reads of ${count} departments at once let nobody wait: %s`, async (_, path) => {
    const asked = path.replace('TOP', String(top)).replace('PART', String(top + 1));
    const { statuses, healthMs, turn } = await reads.twelve(tenantId, asked);
    expect(statuses).toEqual({ 200: AT_ONCE });
    expect(turn.work).toBeLessThan(TURN_MS);
    expect(healthMs).toBeLessThan(HEALTH_MS);
  });
});

const FIRST_DAY = '2026-01-01 00:00:00.000';
const fields = (before: string, after: string) => `json_object('before', ${before}, 'after', ${after})`;

/** Departments that were created one by one, then changed, a half of it in one of them. */
async function fillJournal(
  dataSource: DataSource,
  tenantId: string,
  base: number,
  depts: number,
  changes: number,
): Promise<void> {
  const created = `json_object('parentId', parent_id, 'deptName', '部门', 'orderNum', order_num, 'leader', leader, 'phone', NULL,
    'email', NULL, 'status', status, 'createBy', 'seed', 'createTime', '2026-01-01T00:00:00.000Z', 'updateBy', '', 'updateTime', NULL)`;
  const insert = `INSERT INTO tenantry_change (tenant_id, version, seq, prev, kind, operation, resource_id, fields, changed_by, happened_at)`;
  await dataSource.query(
    `${insert} SELECT tenant_id, dept_id - ${base}, 0, dept_id - ${base} - 1, 'dept', 'created', dept_id,
       ${fields('NULL', created)}, 'seed', '${FIRST_DAY}' FROM tenantry_dept WHERE tenant_id = '${tenantId}'`,
  );
  const dept = `CASE WHEN seq % 2 = 0 THEN ${base + 1} ELSE ${base} + 1 + seq % ${depts} END`;
  const named = (n: string) =>
    `json_object('deptName', '部门 ' || (${n}), 'updateBy', 'seed', 'updateTime', '2026-02-01T00:00:00.000Z')`;
  await dataSource.query(
    `${COUNT(changes - depts)} ${insert} SELECT '${tenantId}', ${depts} + seq, 0, ${depts} + seq - 1, 'dept', 'updated', ${dept},
       ${fields(named('seq'), named('seq + 1'))}, 'seed', '2026-02-01 00:00:00.000' FROM s`,
  );
  await dataSource.query(`UPDATE tenantry_tenant SET tree_ver = ${changes} WHERE tenant_id = '${tenantId}'`);
}

describe(`reads of 200,000 changes with a heap of ${HEAP_MB} MB, twelve at once`, () => {
  const DEPTS = 100_000;
  const reads = new LongReads(`--max-old-space-size=${HEAP_MB}`);
  let tenantId: string;
  let top: number;

  beforeAll(async () => {
    tenantId = await aTenantRow(reads.dataSource);
    top = await fill(reads.dataSource, tenantId, DEPTS);
    await fillJournal(reads.dataSource, tenantId, top - 1, DEPTS, 200_000);
  });

  it.each([
    ['all differences', '/diff?from=0&limit=500'],
    ['differences of names', `/diff?from=${DEPTS}&limit=500`],
    ['the tree at the beginning', '/tree?asOf=1000'],
    ['the tree of the first day', '/tree?asOf=2026-01-01'],
    ['a few levels of the first day', '/tree?asOf=2026-01-01&depth=1'],
    ['the children of the first day', '?asOf=2026-01-01&parentId=BUSY'],
    ['a busy department on its first day', '/BUSY?asOf=2026-01-01'],
  ])(
    'twelve reads of 200,000 changes at once let nobody wait, and the process lives: %s',
    async (_, path) => {
      const { statuses, healthMs, readRefused, turn } = await reads.twelve(
        tenantId,
        path.replace('BUSY', String(top)),
      );
      // Those that would have to wait too long are told to come again.
      const { 200: read = 0, 429: later = 0 } = statuses;
      expect([read > 0, read + later]).toEqual([true, AT_ONCE]);
      expect(turn.work).toBeLessThan(TURN_MS);
      expect(healthMs).toBeLessThan(HEALTH_MS);
      expect(readRefused).toBe(0);
    },
  );
});
