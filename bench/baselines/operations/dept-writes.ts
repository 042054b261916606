import { inTransaction, returning, type Transaction } from './database';
import { COLUMNS, deptJson, existing, LIVE, PATH, WITH_CHILDREN, type DeptRow } from './depts';
import { HttpError, operation, changed, created, type Caller } from './operation';

interface DeptSent {
  deptId?: number;
  parentId?: number;
  deptName?: string;
  orderNum?: number;
  leader?: string | null;
  phone?: string | null;
  email?: string | null;
  status?: string;
}

function columnsOf({
  deptName = '',
  orderNum = 0,
  leader = null,
  phone = null,
  email = null,
  status = '0',
}: DeptSent) {
  return [deptName, orderNum, leader, phone, email, status];
}

const ADD = `INSERT INTO tenantry_dept (dept_name, order_num, leader, phone, email, status, parent_id, ancestors, depth,
  del_flag, create_by, create_time, update_by, update_time, revision, tenant_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '0', ?, ?, '', NULL, 0, ?)${returning('dept_id')}`;

operation('post', PATH, async (caller, request) => {
  const sent = request.body as DeptSent & { parentId: number };
  const id = await inTransaction(caller.tenantId, async (tx) => {
    const parent = await existing(caller, sent.parentId, tx);
    const place = [sent.parentId, `${parent.ancestors},${sent.parentId}`, parent.depth + 1];
    const values = [...columnsOf(sent), ...place, caller.username, new Date(), caller.tenantId];
    const { insertId } = await tx.change(ADD, values);
    const after = {
      ...sent,
      createBy: caller.username,
      createTime: new Date(),
      updateBy: '',
      updateTime: null,
    };
    tx.note({ kind: 'dept', operation: 'created', id: insertId, before: null, after, by: caller.username });
    return insertId;
  });
  return created(request, id);
});

const REPLACE = `UPDATE tenantry_dept SET dept_name = ?, order_num = ?, leader = ?, phone = ?, email = ?, status = ?,
  parent_id = ?, ancestors = ?, depth = ?, update_by = ?, update_time = ?, revision = revision + 1
  WHERE dept_id = ? AND tenant_id = ? AND del_flag = '0'`;
// TRIM changes nothing: it tells PostgreSQL that the value is a text.
const BELOW = `UPDATE tenantry_dept SET ancestors = CONCAT(TRIM(?), SUBSTR(ancestors, ?)), depth = depth + ?,
  revision = revision + 1 WHERE tenant_id = ? AND del_flag = '0' AND ancestors >= ? AND ancestors < ?`;

type Place = Pick<DeptRow, 'parent_id' | 'ancestors' | 'depth'>;

async function replace(
  tx: Transaction,
  { tenantId, username }: Caller,
  dept: DeptRow,
  sent: DeptSent,
  place: Place = dept,
): Promise<number> {
  const now = new Date();
  const operation = place === dept ? 'updated' : 'moved';
  const { parent_id, ancestors, depth } = place;
  const values = [...columnsOf(sent), parent_id, ancestors, depth, username, now, dept.dept_id, tenantId];
  await tx.change(REPLACE, values);
  const { deptId: _, ...after } = { ...sent, updateBy: username, updateTime: now };
  const was = Object.entries(deptJson(dept)).filter(([name]) => name in after);
  const before = Object.fromEntries(was);
  tx.note({ kind: 'dept', operation, id: dept.dept_id, before, after, by: username });
  return dept.revision + 1;
}

/** Moves all below a department; gives the new place of itself. */
async function moveBelow(tx: Transaction, caller: Caller, dept: DeptRow, parentId: number): Promise<Place> {
  const parent = await existing(caller, parentId, tx);
  const [from, ancestors] = [`${dept.ancestors},${dept.dept_id}`, `${parent.ancestors},${parentId}`];
  if (`${ancestors},`.startsWith(`${from},`)) throw new HttpError(409);
  const depth = parent.depth + 1;
  const to = `${ancestors},${dept.dept_id}`;
  await tx.change(BELOW, [to, from.length + 1, depth - dept.depth, caller.tenantId, from, `${from}-`]);
  return { parent_id: parentId, ancestors, depth };
}

operation('put', PATH, async (caller, { body }) => {
  const sent = body as DeptSent;
  const revision = await inTransaction(caller.tenantId, async (tx) => {
    const dept = await existing(caller, sent.deptId, tx);
    const { parentId = dept.parent_id } = sent;
    const place = parentId === dept.parent_id ? dept : await moveBelow(tx, caller, dept, parentId);
    return replace(tx, caller, dept, sent, place);
  });
  return changed(revision);
});

operation('patch', `${PATH}/:id`, async (caller, { params, body }) => {
  const revision = await inTransaction(caller.tenantId, async (tx) => {
    const dept = await existing(caller, params.id, tx);
    const { deptName, orderNum, leader, phone, email, status } = deptJson(dept);
    return replace(tx, caller, dept, {
      deptName,
      orderNum,
      leader,
      phone,
      email,
      status,
      ...(body as DeptSent),
    });
  });
  return changed(revision);
});

operation('put', `${PATH}/order`, async (caller, { body }) => {
  const { parentId = 0, deptIds } = body as { parentId?: number; deptIds: number[] };
  const marks = deptIds.map(() => '?').join(', ');
  await inTransaction(caller.tenantId, async (tx) => {
    const found = await tx.read<DeptRow>(
      `SELECT ${COLUMNS} FROM tenantry_dept t WHERE t.dept_id IN (${marks}) AND ${LIVE}`,
      [...deptIds, caller.tenantId],
    );
    if (found.length < deptIds.length || found.some((row) => row.parent_id !== parentId))
      throw new HttpError(409);
    const numbers = deptIds.map(() => 'WHEN ? THEN ?').join(' ');
    await tx.change(
      `UPDATE tenantry_dept SET order_num = CASE dept_id ${numbers} END, update_by = ?, update_time = ?,
         revision = revision + 1 WHERE dept_id IN (${marks}) AND tenant_id = ? AND del_flag = '0'`,
      [
        ...deptIds.flatMap((id, at) => [id, at + 1]),
        caller.username,
        new Date(),
        ...deptIds,
        caller.tenantId,
      ],
    );
    for (const row of found) {
      const [before, after] = [{ orderNum: row.order_num }, { orderNum: deptIds.indexOf(row.dept_id) + 1 }];
      tx.note({ kind: 'dept', operation: 'updated', id: row.dept_id, before, after, by: caller.username });
    }
  });
  return { data: null };
});

const USER = "SELECT 1 FROM tenantry_account WHERE dept_id = ? AND tenant_id = ? AND del_flag = '0' LIMIT 1";
const DELETE = `UPDATE tenantry_dept SET del_flag = '2', update_by = ?, update_time = ?, revision = revision + 1
  WHERE dept_id = ? AND tenant_id = ? AND del_flag = '0'`;

operation('delete', `${PATH}/:id`, async (caller, { params }) => {
  const id = Number(params.id);
  await inTransaction(caller.tenantId, async (tx) => {
    const dept = await existing(caller, id, tx, WITH_CHILDREN);
    if (dept.has_children === 1) throw new HttpError(409);
    if ((await tx.read(USER, [id, caller.tenantId])).length > 0) throw new HttpError(409);
    const marked = await tx.change(DELETE, [caller.username, new Date(), id, caller.tenantId]);
    if (marked.affected !== 1) throw new HttpError(404);
    tx.note({
      kind: 'dept',
      operation: 'deleted',
      id,
      before: deptJson(dept),
      after: null,
      by: caller.username,
    });
  });
  return { data: null };
});
