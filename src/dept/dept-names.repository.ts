import { And, In, LessThan, MoreThanOrEqual, type EntityManager, type FindOperator } from 'typeorm';
import { runPrepared } from '../database/prepared';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import { textAfter } from '../text/text-after';
import { DeptNameEntity } from './dept-name.entity';

/** Writes every ending of the names of some departments; the names are read where they are stored. */
const addEndings = (count: number, hint: string): string => `
  INSERT INTO tenantry_dept_name (dept_id, position, tenant_id, suffix)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)
  SELECT d.dept_id, n.i, d.tenant_id, SUBSTR(d.dept_name, n.i)
    FROM tenantry_dept d ${hint} JOIN n ON SUBSTR(d.dept_name, n.i) <> ''
   WHERE d.tenant_id = ? AND d.del_flag = '0' AND d.dept_id IN (${Array(count).fill('?').join(', ')})`;

/** The names of one tenant's departments, as the search for a part of a name reads them. */
export class DeptNames {
  readonly #manager: EntityManager;
  readonly #table: TenantBound<DeptNameEntity>;

  constructor(
    manager: EntityManager,
    private readonly ctx: RequestContext,
  ) {
    this.#manager = manager;
    this.#table = new TenantBound(manager, DeptNameEntity, ctx);
  }

  /** Whether more than so many places in names hold this text. */
  hasMoreThan(count: number, text: string): Promise<boolean> {
    return this.#table.hasMoreThan(count, containing(text));
  }

  /** The departments whose names hold this text. */
  find(text: string): Promise<number[]> {
    return this.#table.distinctIds('deptId', containing(text));
  }

  async add(deptIds: readonly number[]): Promise<void> {
    // By their ids, whatever the database's figures say after many new rows.
    const hint = this.#table.isOnSqlite ? 'NOT INDEXED' : 'FORCE INDEX (PRIMARY)';
    const sql = addEndings(deptIds.length, hint);
    const parameters = [this.ctx.tenantId, ...deptIds.map(String)];
    // A list's length is part of the text: prepared, each would stay on every connection.
    if (deptIds.length === 1) await runPrepared(this.#manager, sql, parameters);
    else await this.#manager.query(sql, parameters);
  }

  async erase(deptIds: readonly number[]): Promise<void> {
    await this.#table.erase({ deptId: In([...deptIds]) });
  }
}

/** The endings that begin with this text: one range of their index. */
function containing(text: string): { suffix: FindOperator<string> } {
  const after = textAfter(text);
  const from = MoreThanOrEqual(text);
  return { suffix: after === null ? from : And(from, LessThan(after)) };
}
