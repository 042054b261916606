import { forceIndex, read, type Transaction } from './database';
import {
  formatTime,
  formatTimeOrNull,
  HttpError,
  pageOf,
  placeIn,
  operation,
  reading,
  changeCursor,
  type Caller,
} from './operation';

export const PATH = '/system/dept-api';
export const COLUMNS = `t.dept_id, t.parent_id, t.ancestors, t.depth, t.dept_name, t.order_num, t.leader, t.phone, t.email,
  t.status, t.del_flag, t.tenant_id, t.create_by, t.create_time, t.update_by, t.update_time, t.revision`;
// Not EXISTS, for which PostgreSQL may read the whole table. The order is that of the index.
const HAS_CHILDREN = `COALESCE((SELECT 1 FROM tenantry_dept child WHERE child.tenant_id = t.tenant_id AND child.del_flag = '0'
  AND child.parent_id = t.dept_id ORDER BY child.order_num, child.dept_id LIMIT 1), 0) AS has_children`;
export const LIVE = "t.tenant_id = ? AND t.del_flag = '0'";
const BY_ID = `SELECT ${COLUMNS} FROM tenantry_dept t WHERE t.dept_id = ? AND ${LIVE}`;
export const WITH_CHILDREN = `SELECT ${COLUMNS}, ${HAS_CHILDREN} FROM tenantry_dept t WHERE t.dept_id = ? AND ${LIVE}`;

export interface DeptRow {
  dept_id: number;
  parent_id: number;
  ancestors: string;
  depth: number;
  dept_name: string;
  order_num: number;
  leader: string | null;
  phone: string | null;
  email: string | null;
  status: string;
  del_flag: string;
  tenant_id: string;
  create_by: string;
  create_time: Date;
  update_by: string;
  update_time: Date | null;
  revision: number;
  has_children?: number;
}

interface DeptJson {
  readonly deptId: number;
  readonly parentId: number;
  readonly deptName: string;
  readonly orderNum: number;
  readonly leader: string | null;
  readonly phone: string | null;
  readonly email: string | null;
  readonly status: string;
  readonly [field: string]: unknown;
}

/** The fields of the contract, in its order. */
export function deptJson(row: DeptRow): DeptJson {
  return {
    deptId: row.dept_id,
    parentId: row.parent_id,
    ancestors: row.ancestors,
    deptName: row.dept_name,
    orderNum: row.order_num,
    leader: row.leader,
    phone: row.phone,
    email: row.email,
    status: row.status,
    delFlag: row.del_flag,
    tenantId: row.tenant_id,
    createBy: row.create_by,
    createTime: formatTime(row.create_time),
    updateBy: row.update_by,
    updateTime: formatTimeOrNull(row.update_time),
  };
}

function deptInList(row: DeptRow) {
  return Object.assign(deptJson(row), { hasChildren: row.has_children === 1 });
}

export async function existing(
  caller: Caller,
  deptId: unknown,
  tx: Pick<Transaction, 'read'> = { read },
  sql = BY_ID,
): Promise<DeptRow> {
  const [row] = await tx.read<DeptRow>(sql, [Number(deptId), caller.tenantId]);
  if (!row) throw new HttpError(404);
  return row;
}

operation('get', PATH, async (caller, { query }) => {
  const headers = await changeCursor(caller);
  const limit = Number(query.limit);
  const after = placeIn(query.cursor);
  const { parentId } = query;
  const [index, where, values] =
    parentId === undefined
      ? ['ix_dept_order', LIVE, [caller.tenantId]]
      : ['ix_dept_children', `${LIVE} AND t.parent_id = ?`, [caller.tenantId, Number(parentId)]];
  const later = after ? 'AND t.order_num >= ? AND (t.order_num > ? OR t.dept_id > ?)' : '';
  const [orderNum = 0, deptId = 0] = after ?? [];
  const found = await read<DeptRow>(
    `SELECT ${COLUMNS}, ${HAS_CHILDREN} FROM tenantry_dept t ${forceIndex(index)} WHERE ${where} ${later}
      ORDER BY t.order_num, t.dept_id LIMIT ${limit + 1}`,
    after ? [...values, orderNum, orderNum, deptId] : values,
  );
  const rows = found.map(deptInList);
  const keyOf = (row: (typeof rows)[number]) => [row.orderNum, row.deptId];
  return reading(pageOf('dept', caller, query, { rows, limit, keyOf }), { headers });
});

type Node = ReturnType<typeof deptInList> & { children: Node[] };

operation('get', `${PATH}/tree`, async (caller) => {
  const headers = await changeCursor(caller);
  // The database sorts, so that this process need not.
  const rows = await read<DeptRow>(
    `SELECT ${COLUMNS} FROM tenantry_dept t WHERE ${LIVE} ORDER BY t.order_num, t.dept_id LIMIT 5001`,
    [caller.tenantId],
  );
  const nodes = new Map<number, Node>();
  for (const row of rows) nodes.set(row.dept_id, Object.assign(deptInList(row), { children: [] }));
  const tops: Node[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parentId);
    if (parent) {
      parent.hasChildren = true;
      parent.children.push(node);
    } else tops.push(node);
  }
  return reading({ rows: tops, truncated: false }, { headers: { ...headers, Vary: 'Accept' } });
});

operation('get', `${PATH}/:id/ancestors`, async (caller, { params }) => {
  const { ancestors } = await existing(caller, params.id);
  const ids = ancestors.split(',').slice(1).map(Number);
  const rows = await read<DeptRow>(
    `SELECT ${COLUMNS} FROM tenantry_dept t WHERE t.dept_id IN (${ids.map(() => '?').join(', ')}) AND ${LIVE}`,
    [...ids, caller.tenantId],
  );
  return reading(rows.sort((a, b) => a.depth - b.depth).map(deptJson));
});

operation('get', `${PATH}/:id`, async (caller, { params }) => {
  const row = await existing(caller, params.id);
  return reading(deptJson(row), { revision: row.revision });
});
