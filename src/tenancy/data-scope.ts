import { isBelowAny } from '../database/tree-path';

/** One part of what a caller may touch of a host's rows. */
export type DataScopePart =
  | { readonly kind: 'all' }
  /** Rows of these departments; `below`: and of all departments below them. */
  | { readonly kind: 'depts'; readonly deptIds: readonly number[]; readonly below: boolean }
  /** Rows that the caller owns. */
  | { readonly kind: 'own' };

/** Rows are in it that are in any of its parts; with no part, none are. */
export type DataScope = readonly DataScopePart[];

/** How many departments one list names, and how many parts a data scope has. */
export const MOST_IN_LIST = 50;

export function isDeptIds(value: unknown): value is number[] {
  const isId = (id: unknown): boolean => Number.isSafeInteger(id) && (id as number) > 0;
  return Array.isArray(value) && value.length <= MOST_IN_LIST && value.every(isId);
}

export function isDataScope(value: unknown): value is DataScope {
  return Array.isArray(value) && value.length <= MOST_IN_LIST && value.every(isPart);
}

function isPart(value: unknown): value is DataScopePart {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, deptIds, below } = value as Readonly<Record<string, unknown>>;
  if (kind === 'all' || kind === 'own') return true;
  return kind === 'depts' && isDeptIds(deptIds) && typeof below === 'boolean';
}

/** A copy that nobody else can change; null where the parts hold everything. */
export function limitingScope(scope: DataScope | undefined): DataScope | null {
  if (scope === undefined || scope.some(({ kind }) => kind === 'all')) return null;
  const copyOf = (part: DataScopePart): DataScopePart =>
    Object.freeze(
      part.kind === 'depts' ? { ...part, deptIds: Object.freeze([...part.deptIds]) } : { ...part },
    );
  return Object.freeze(scope.map(copyOf));
}

/** Whether rows of a department are in a scope, whoever owns them; `andBelow`: also those of all departments below it. */
export function holdsDept(
  scope: DataScope | null,
  dept: { readonly deptId: number; readonly ancestors: string },
  andBelow = false,
): boolean {
  const holds = (part: DataScopePart): boolean => {
    if (part.kind !== 'depts') return part.kind === 'all';
    const { deptIds, below } = part;
    if (!below) return !andBelow && deptIds.includes(dept.deptId);
    return deptIds.includes(dept.deptId) || isBelowAny(dept, deptIds);
  };
  return scope === null || scope.some(holds);
}
