import type { DataSource, EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { dataSourceOf } from '../database/tenantry.data-source';
import type { RequestContext } from '../tenancy/request-context';
import {
  deptCondition,
  hasOwn,
  isNumeric,
  isOwner,
  nameIn,
  outsideScope,
  scopeCondition,
  scopedDepts,
  stored,
  type Condition,
  type OwnerIs,
} from './data-scope.conditions';

/** What says whether a row is in a caller's data scope. */
export interface DataScopedBy {
  /** The property with the id of the row's department. */
  readonly dept: string;
  /** The property with the row's owner. Without it, nobody owns rows. */
  readonly owner?: string;
  /** What of a caller stands there. Default: `subject`. */
  readonly ownerIs?: OwnerIs;
}

const SCOPED_BY = Symbol.for('tenantry:data-scoped');

/** Limits the rows of a host's entity to the data scope of the caller: in tenant-bound repositories and their query builders. */
export function DataScoped(by: DataScopedBy): ClassDecorator {
  return (entity) => {
    Reflect.defineMetadata(SCOPED_BY, Object.freeze({ ...by }), entity);
  };
}

function scopedBy({ target }: EntityMetadata): DataScopedBy | undefined {
  if (typeof target !== 'function') return undefined;
  return Reflect.getMetadata(SCOPED_BY, target) as DataScopedBy | undefined;
}

/** What is wrong with `@DataScoped` on entities of a DataSource, if anything. */
export function dataScopeProblem({ entityMetadatas }: Pick<DataSource, 'entityMetadatas'>): string | null {
  for (const metadata of entityMetadatas) {
    const by = scopedBy(metadata);
    if (!by) continue;
    const isColumn = (property: string): boolean => !!metadata.findColumnWithPropertyPath(property);
    const missing = ['tenantId', by.dept, by.owner ?? by.dept].find((property) => !isColumn(property));
    if (missing !== undefined)
      return `@DataScoped of ${metadata.name} needs a column for ${missing}, and there is none.`;
    if (!['subject', 'username', undefined].includes(by.ownerIs))
      return `@DataScoped of ${metadata.name} needs 'subject' or 'username' as ownerIs, not ${by.ownerIs}.`;
    if (!isNumeric(metadata.findColumnWithPropertyPath(by.dept)))
      return `@DataScoped of ${metadata.name} needs the ids of departments in ${by.dept}, as numbers.`;
  }
  return null;
}

/** Rows of one entity of a host, as the data scope of a caller limits them. */
export class RowScope {
  private constructor(
    private readonly ctx: RequestContext,
    private readonly dept: ColumnMetadata,
    private readonly owner: ColumnMetadata | undefined,
    private readonly ownerIs: OwnerIs | undefined,
  ) {}

  /** Null where nothing limits the caller, or the entity's rows are in every scope. */
  static of(ctx: RequestContext, metadata: EntityMetadata): RowScope | null {
    const by = ctx.dataScope && scopedBy(metadata);
    const dept = by && metadata.findColumnWithPropertyPath(by.dept);
    if (!by) return null;
    if (!dept) throw new Error(dataScopeProblem({ entityMetadatas: [metadata] }) ?? '');
    const owner = by.owner === undefined ? undefined : metadata.findColumnWithPropertyPath(by.owner);
    return new RowScope(ctx, dept, owner, by.ownerIs);
  }

  /** That a row is in the scope; in a builder that reads, under the alias of the entity there. */
  condition(alias?: string): Condition {
    const { ctx, owner, ownerIs } = this;
    const is = owner && { name: this.#nameOf(owner, alias), column: owner };
    const found = scopeCondition(
      this.#dataSource,
      ctx,
      this.#nameOf(this.dept, alias),
      is ? { is, ownerIs } : null,
    );
    if (!found) throw new Error('This caller has no data scope.');
    return found;
  }

  /** That a row is in the scope only because the caller owns it, or has another department than this one. */
  leaving(alias: string, deptId: number | null | undefined): Condition {
    const dept = this.#nameOf(this.dept, alias);
    if (deptId === undefined) {
      const inDept = deptCondition(this.#dataSource, this.ctx, dept);
      return inDept
        ? { ...inDept, sql: `CASE WHEN ${inDept.sql} THEN 0 ELSE 1 END = 1` }
        : { sql: '1 = 1', parameters: {} };
    }
    if (deptId === null) return { sql: `${dept} IS NOT NULL`, parameters: {} };
    // Written out, as the numbers of owners are.
    const isAnother = Number.isSafeInteger(deptId) ? `(${dept} IS NULL OR ${dept} <> ${deptId})` : '1 = 1';
    return { sql: isAnother, parameters: {} };
  }

  /** The department of a row as it is going to be written: undefined where nothing is said of it, NaN where it is no number. */
  deptOf(row: ObjectLiteral): number | null | undefined {
    const value: unknown = this.dept.getEntityValue(row);
    if (value === undefined || value === null) return value;
    return Number(stored(this.dept, value) ?? NaN);
  }

  /** What a row says of its owner, as it is stored: undefined where it says nothing. */
  ownerOf(row: ObjectLiteral): string | null | undefined {
    const value: unknown = this.owner?.getEntityValue(row);
    return this.owner && value !== undefined ? stored(this.owner, value) : undefined;
  }

  /** Whether a change to this owner, if it is one, leaves rows in the scope that are there because the caller owns them. */
  keeps(owner: string | null | undefined): boolean {
    return owner === undefined || !hasOwn(this.ctx) || this.isOwn(owner);
  }

  /** Whether rows of this owner are in the scope, whatever their department is. */
  isOwn(owner: string | null | undefined): boolean {
    return !!this.owner && isOwner(this.ctx, this.owner, owner ?? null, this.ownerIs);
  }

  /** Whether it is left to hooks of the entity to say what puts a new row into the scope. */
  isOpen(row: ObjectLiteral): boolean {
    const { beforeInsertListeners } = this.dept.entityMetadata;
    if (beforeInsertListeners.length + this.#dataSource.subscribers.length === 0) return false;
    const isOwnerOpen = !!this.owner && hasOwn(this.ctx) && this.ownerOf(row) === undefined;
    return this.deptOf(row) === undefined || isOwnerOpen;
  }

  /** Refuses new rows outside of the scope: their departments must be in it, or the caller must own them. */
  async refuseOutside(manager: EntityManager, rows: readonly ObjectLiteral[]): Promise<void> {
    const depts = rows.map((row) => this.deptOf(row) ?? null);
    const live = await scopedDepts(
      manager,
      this.ctx,
      depts.filter((deptId) => deptId !== null),
    );
    const isOutside = (row: ObjectLiteral, at: number): boolean => {
      const deptId = depts[at] ?? null;
      if (deptId !== null && live.get(deptId)) return false;
      return !this.isOwn(this.ownerOf(row)) || (deptId !== null && !live.has(deptId));
    };
    const outside = rows.flatMap((row, at) => (isOutside(row, at) ? [depts[at] ?? null] : []));
    if (outside.length > 0) throw outsideScope(outside);
  }

  get #dataSource(): DataSource {
    return dataSourceOf(this.dept.entityMetadata);
  }

  #nameOf({ databaseName, entityMetadata }: ColumnMetadata, alias = entityMetadata.tablePath): string {
    return nameIn(this.#dataSource, alias, databaseName);
  }
}
