import {
  And,
  In,
  IsNull,
  LessThan,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Not,
  Or,
  Raw,
  type FindOperator,
  type FindOptionsWhere,
} from 'typeorm';
import { contains } from '../database/columns';
import type { TenantEntity } from './tenant.entity';
import type { LiveState } from './tenant-state';

type Where = FindOptionsWhere<TenantEntity>;

export const LIVE = { delFlag: '0' } as const;

/** Which tenants are looked for; what is absent does not matter. */
export interface TenantCriteria {
  readonly tenantParent?: string | undefined;
  /** A part of the name, to the byte. */
  readonly tenantName?: string | undefined;
  readonly state?: LiveState | undefined;
  readonly expiresBefore?: string | undefined;
}

/** Every criterion as a condition, on a day. */
export function matching(
  { tenantParent, tenantName, state, expiresBefore }: TenantCriteria,
  today: string,
): Where {
  const { endTime: end, ...byState } = state ? inState(state, today) : { endTime: undefined };
  const ends = [end, expiresBefore === undefined ? undefined : LessThan(expiresBefore)].filter(
    (condition) => condition !== undefined,
  );
  return {
    ...LIVE,
    ...byState,
    ...(ends.length > 0 && { endTime: And(...ends) }),
    ...(tenantParent !== undefined && { tenantParent }),
    ...(tenantName !== undefined && { tenantName: contains(tenantName) }),
  };
}

/** What `tenantState` says of one tenant, as conditions on many. An end is never before the start. */
function inState(state: LiveState, today: string): Where & { endTime?: FindOperator<string> } {
  switch (state) {
    case 'DISABLED':
      return { status: Not('0') };
    case 'NOT_STARTED':
      return { status: '0', startTime: MoreThan(today) };
    case 'EXPIRED':
      return { status: '0', endTime: LessThan(today) };
    case 'ACTIVE':
      return {
        status: '0',
        startTime: Or(IsNull(), LessThanOrEqual(today)),
        endTime: Or(IsNull() as FindOperator<string>, MoreThanOrEqual(today)),
      };
  }
}

/** Of these tenants, the ones with children: one look into an index each. */
export function parentsAmong(codes: readonly string[]): Where {
  const hasChild = (column: string) =>
    `CASE WHEN EXISTS (SELECT 1 FROM tenantry_tenant child WHERE child.del_flag = '0'
       AND child.tenant_parent = ${column}) THEN 1 ELSE 0 END = 1`;
  return {
    ...LIVE,
    tenantId: Raw((column) => `${column} IN (:...codes) AND ${hasChild(column)}`, { codes }),
  };
}

export function withKeys(ids: readonly string[]): Where {
  return { id: In([...ids]) };
}
