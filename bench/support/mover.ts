import type { Connection } from 'mysql2/promise';
import type { ApiClient } from '../../src/testing/api-client';
import { HEAD_NAME, type Subtrees } from './subtrees';

/** Moves a subtree from one top to the other and back, by turns; gives how long each move took, in milliseconds. */
export type Mover = () => Promise<number>;

export function serviceMover(api: ApiClient, { tops, heads }: Subtrees, size: number): Mover {
  let moves = 0;
  return async () => {
    moves += 1;
    const body = { deptId: heads.get(size), deptName: HEAD_NAME, parentId: tops[moves % 2] };
    const start = performance.now();
    const { status, text } = await api.put('/system/dept-api', body);
    if (status !== 200) throw new Error(`The move failed: ${text}`);
    return performance.now() - start;
  };
}

const REWRITE = `UPDATE tenantry_dept
   SET ancestors = CONCAT(?, SUBSTR(ancestors, ?)), depth = depth + 0, revision = revision + 1
 WHERE tenant_id = ? AND del_flag = '0' AND ancestors >= ? AND ancestors < ?`;

/** The one statement that a move cannot do without. It commits by itself. */
export function rawMover(connection: Connection, subtrees: Subtrees, size: number): Mover {
  const { tenantId, tops, heads } = subtrees;
  const pathOf = (top: number) => `0,${top},${heads.get(size) ?? 0}`;
  let moves = 0;
  return async () => {
    const [from, to] = [pathOf(tops[moves % 2 === 0 ? 0 : 1]), pathOf(tops[moves % 2 === 0 ? 1 : 0])];
    moves += 1;
    const start = performance.now();
    const [result] = await connection.execute(REWRITE, [to, from.length + 1, tenantId, from, `${from}-`]);
    const { affectedRows } = result as { affectedRows: number };
    if (affectedRows !== size - 1) throw new Error(`${affectedRows} rows were rewritten, not ${size - 1}.`);
    return performance.now() - start;
  };
}
