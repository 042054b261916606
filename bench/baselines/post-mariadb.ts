import { randomUUID } from 'node:crypto';
import { json } from 'express';
import type { PoolConnection, ResultSetHeader } from 'mysql2';
import { bareExpress, claimsOf, serve, type Claims } from './bare-express';
import { barePool } from './bare-mysql';
import { success } from './dept-json';

/** The statements of the service; the measure sees to it that they are the same. */
const LOCK = "UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = ? AND del_flag = '0'";
const PARENT = `SELECT status, del_flag, create_by, create_time, update_by, update_time, revision, dept_id, tenant_id,
  parent_id, ancestors, depth, dept_name, order_num, leader, phone, email
  FROM tenantry_dept WHERE dept_id = ? AND del_flag = '0' AND tenant_id = ?`;
const ADD = `INSERT INTO tenantry_dept (status, del_flag, create_by, create_time, update_by, update_time, revision,
  tenant_id, parent_id, ancestors, depth, dept_name, order_num, leader, phone, email)
  VALUES (?, '0', ?, ?, '', NULL, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const RECORD = 'INSERT INTO tenantry_unit (unit_id, created_at) VALUES (?, ?)';

interface Sent {
  readonly parentId: number;
  readonly deptName: string;
  readonly orderNum: number;
  readonly leader: string;
  readonly phone: string;
  readonly email: string;
}

type Value = string | number | Date;

const pool = barePool();
const app = bareExpress();
const PATH = '/system/dept-api';

function connect(): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => {
      if (error) reject(error);
      else resolve(connection);
    });
  });
}

function run(on: PoolConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    on.query(sql, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function execute(on: PoolConnection, sql: string, values: Value[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    on.execute(sql, values, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
}

async function create({ tenantId, username }: Claims, sent: Sent): Promise<number> {
  const on = await connect();
  try {
    await run(on, 'START TRANSACTION');
    await execute(on, LOCK, [tenantId]);
    const [parent] = (await execute(on, PARENT, [sent.parentId, tenantId])) as {
      ancestors: string;
      depth: number;
    }[];
    if (!parent) throw new Error('There is no such parent.');
    const place = [sent.parentId, `${parent.ancestors},${sent.parentId}`, parent.depth + 1];
    const fields = [sent.deptName, sent.orderNum, sent.leader, sent.phone, sent.email];
    const now = new Date();
    const { insertId } = (await execute(on, ADD, [
      '0',
      username,
      now,
      tenantId,
      ...place,
      ...fields,
    ])) as ResultSetHeader;
    await execute(on, RECORD, [randomUUID(), now]);
    await run(on, 'COMMIT');
    return insertId;
  } catch (error) {
    await run(on, 'ROLLBACK');
    throw error;
  } finally {
    on.release();
  }
}

app.post(PATH, json(), async (request, response) => {
  const id = await create(claimsOf(request), request.body as Sent);
  response.set('Location', `${PATH}/${id}`).json(success(null));
});

serve(app);
