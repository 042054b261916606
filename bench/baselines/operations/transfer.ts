import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { inTransaction, type Transaction, type Value } from './database';
import type { DeptRow } from './depts';
import { HttpError, operation, changeCursor, type Caller } from './operation';
import { getConnection } from './mysql';

const PATH = '/system/dept-api';
/** So much text goes out at once. */
const CHUNK = 65_536;

type ExportRow = Pick<
  DeptRow,
  'dept_id' | 'parent_id' | 'dept_name' | 'order_num' | 'leader' | 'phone' | 'email' | 'status'
>;

/** In the order of the tree, parents before their children, through the index that has it. */
const ALL = `SELECT dept_id, parent_id, dept_name, order_num, leader, phone, email, status
  FROM tenantry_dept FORCE INDEX (ix_dept_subtree) WHERE tenant_id = ? AND del_flag = '0'
  ORDER BY ancestors, order_num, dept_id`;

const FILE = {
  'Content-Type': 'application/x-ndjson; charset=utf-8',
  'Content-Disposition': 'attachment; filename="departments.ndjson"',
};

operation('get', `${PATH}/export`, async (caller) => {
  const headers = await changeCursor(caller);
  const connection = await getConnection();
  const lines = new Readable({
    read: () => {
      connection.resume();
    },
  });
  const paths = new Map<number, string>();
  let text = '';
  connection
    .execute(ALL, [caller.tenantId])
    .on('result', (result) => {
      const row = result as unknown as ExportRow;
      const above = paths.get(row.parent_id);
      const path = above === undefined ? row.dept_name : `${above}/${row.dept_name}`;
      paths.set(row.dept_id, path);
      const { order_num: orderNum, leader, phone, email, status } = row;
      text += `${JSON.stringify({ path, orderNum, leader, phone, email, status })}\n`;
      if (text.length < CHUNK) return;
      if (!lines.push(text)) connection.pause();
      text = '';
    })
    .on('error', (error) => lines.destroy(error))
    .on('end', () => {
      connection.release();
      if (text !== '') lines.push(text);
      lines.push(null);
    });
  return { data: lines, headers: { ...headers, ...FILE } };
});

interface Line {
  readonly path: string;
  readonly orderNum?: number;
  readonly leader?: string | null;
  readonly phone?: string | null;
  readonly email?: string | null;
  readonly status?: string;
}

interface Made {
  readonly id: number;
  readonly ancestors: string;
}

const BATCH = 50;
const NEW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, '0', ?, ?, '', NULL, 0, ?)";
const INSERT = `INSERT INTO tenantry_dept (dept_name, order_num, leader, phone, email, status, parent_id, ancestors, depth,
  del_flag, create_by, create_time, update_by, update_time, revision, tenant_id) VALUES `;

/** Imports departments that are all new, parents before their children. */
operation('post', `${PATH}/import`, async (caller, request) => {
  const levels: Line[][] = [];
  for await (const text of createInterface({ input: request })) {
    const line = JSON.parse(text) as Line;
    const depth = line.path.split('/').length;
    (levels[depth - 1] ??= []).push(line);
  }
  const created = await inTransaction(caller.tenantId, async (tx) => {
    const tops = (levels[0] ?? []).map(({ path }) => path);
    const isTaken = await tx.read(
      `SELECT dept_id FROM tenantry_dept WHERE tenant_id = ? AND del_flag = '0' AND parent_id = 0
         AND dept_name IN (${tops.map(() => '?').join(', ')})`,
      [caller.tenantId, ...tops],
    );
    if (isTaken.length > 0) throw new HttpError(409);
    const made = new Map<string, Made>([['', { id: 0, ancestors: '' }]]);
    for (const level of levels) {
      for (let at = 0; at < level.length; at += BATCH)
        await addBatch(tx, caller, level.slice(at, at + BATCH), made);
    }
    return made.size - 1;
  });
  return { data: { created, updated: 0, unchanged: 0 } };
});

async function addBatch(
  tx: Transaction,
  caller: Caller,
  lines: Line[],
  made: Map<string, Made>,
): Promise<void> {
  const now = new Date();
  const places: string[] = [];
  const values = lines.flatMap((line): Value[] => {
    const end = line.path.lastIndexOf('/');
    const parent = made.get(end < 0 ? '' : line.path.slice(0, end));
    if (!parent) throw new HttpError(400);
    const ancestors = parent.id === 0 ? '0' : `${parent.ancestors},${parent.id}`;
    places.push(ancestors);
    const { orderNum = 0, leader = null, phone = null, email = null, status = '0' } = line;
    const place = [parent.id, ancestors, ancestors.split(',').length];
    const name = line.path.slice(end + 1);
    return [name, orderNum, leader, phone, email, status, ...place, caller.username, now, caller.tenantId];
  });
  const { insertId } = await tx.change(INSERT + lines.map(() => NEW).join(', '), values);
  const ids = await tx.read<{ dept_id: number }>(
    `SELECT dept_id FROM tenantry_dept WHERE tenant_id = ? AND dept_id >= ? ORDER BY dept_id LIMIT ${lines.length}`,
    [caller.tenantId, insertId],
  );
  lines.forEach(({ path, ...after }, at) => {
    const id = ids[at]?.dept_id ?? 0;
    made.set(path, { id, ancestors: places[at] ?? '' });
    tx.note({ kind: 'dept', operation: 'created', id, before: null, after, by: caller.username });
  });
}
