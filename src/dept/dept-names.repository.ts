import { And, In, LessThan, MoreThanOrEqual, type EntityManager } from 'typeorm';
import type { RequestContext } from '../tenancy/request-context';
import { TenantBound } from '../tenancy/tenant-bound';
import { textAfter } from '../text/text-after';
import { DeptNameEntity } from './dept-name.entity';

/** Writes every ending of the names of some departments; the names are read where they are stored. */
const ADD_ENDINGS = `
  INSERT INTO tenantry_dept_name (dept_id, position, tenant_id, suffix)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)
  SELECT d.dept_id, n.i, d.tenant_id, SUBSTR(d.dept_name, n.i)
    FROM tenantry_dept d JOIN n ON SUBSTR(d.dept_name, n.i) <> ''
   WHERE d.tenant_id = ? AND d.del_flag = '0' AND d.dept_id IN`;

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
    const places = deptIds.map(() => '?').join(', ');
    await this.#manager.query(`${ADD_ENDINGS} (${places})`, [this.ctx.tenantId, ...deptIds.map(String)]);
  }

  async erase(deptIds: readonly number[]): Promise<void> {
    await this.#table.erase({ deptId: In([...deptIds]) });
  }
}

/** The endings that begin with this text: one range of their index. */
function containing(text: string): { suffix: ReturnType<typeof And<string>> } {
  return { suffix: And(MoreThanOrEqual(text), LessThan(textAfter(text))) };
}
