/** A department as it is stored; SQLite has its times as text. */
export interface DeptRow {
  dept_id: number;
  parent_id: number;
  ancestors: string;
  dept_name: string;
  order_num: number;
  leader: string | null;
  phone: string | null;
  email: string | null;
  status: string;
  del_flag: string;
  tenant_id: string;
  create_by: string;
  create_time: Date | string;
  update_by: string;
  update_time: Date | string | null;
}

export const DEPT_COLUMNS = `dept_id, parent_id, ancestors, dept_name, order_num, leader, phone, email, status, del_flag,
  tenant_id, create_by, create_time, update_by, update_time`;

/** Shanghai has no summer time: adding hours is the cheapest way to its clock. */
const AHEAD_MS = 8 * 60 * 60 * 1000;

function format(time: Date | string): string {
  const instant = typeof time === 'string' ? Date.parse(`${time.replace(' ', 'T')}Z`) : time.getTime();
  const text = new Date(instant + AHEAD_MS).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

export interface DeptJson {
  readonly deptId: number;
  readonly parentId: number;
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
    createTime: format(row.create_time),
    updateBy: row.update_by,
    updateTime: row.update_time === null ? null : format(row.update_time),
  };
}

export function success(data: unknown): object {
  return { code: 200, msg: '操作成功', data };
}
