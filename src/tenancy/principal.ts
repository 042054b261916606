import { isDataScope, isDeptIds, MOST_IN_LIST, type DataScope } from './data-scope';
import { isRole, type Role } from './roles';
import { isTenantCode, PLATFORM_TENANT } from './tenant-code';

/** Who is calling, as far as a valid token says. */
export interface Principal {
  readonly subject: string;
  readonly tenantId: string;
  readonly username: string;
  readonly roles: readonly Role[];
  /** The sign-in that the token belongs to, if any. */
  readonly sessionId?: string | null;
  /** What the caller is limited to of what its roles allow, such as `dept:read`. Absent: nothing limits it. */
  readonly permissions?: readonly string[];
  /** Of a `dept_admin`: it manages what is below these departments. */
  readonly managedDeptIds?: readonly number[];
  /** Which rows of a host the caller may touch. Absent: all. */
  readonly dataScope?: DataScope;
}

/** Tokens of a sign-in carry its id at the beginning of their own. */
const SESSION = /^([0-9a-f-]{36})\./;
/** How far the issuer's clock may be ahead of ours. */
const CLOCK_SKEW_S = 60;

/**
 * Reads the claims of a token whose signature, issuer, audience and times have been checked; null when they
 * are not of our form. Roles we do not know grant nothing and are dropped.
 */
export function principalOf(claims: unknown, nowSeconds = Date.now() / 1000): Principal | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { sub, tenantId, username, roles, exp, iat, jti, scope, managedDeptIds, dataScope } =
    claims as Record<string, unknown>;
  if (scope !== undefined && typeof scope !== 'string') return null;
  if (!isTexts(roles)) return null;
  if (!Number.isFinite(exp) || !Number.isFinite(iat) || (iat as number) > nowSeconds + CLOCK_SKEW_S)
    return null;
  const principal = {
    subject: sub,
    tenantId,
    username,
    roles: Object.freeze([...new Set(roles.filter(isRole))]),
    sessionId: typeof jti === 'string' ? (SESSION.exec(jti)?.[1] ?? null) : null,
    ...(scope !== undefined && { permissions: Object.freeze(scope.split(' ').filter(Boolean)) }),
    ...(managedDeptIds !== undefined && { managedDeptIds }),
    ...(dataScope !== undefined && { dataScope }),
  } as Principal;
  return isPrincipal(principal) ? deepFreeze(principal) : null;
}

/** Whether what a token or a host says is a principal. */
export function isPrincipal(value: Principal): boolean {
  return principalProblem(value) === null && value.roles.every(isRole);
}

/** In which nothing was wrong, and nothing can change: a caller has the same one for many requests. */
const checked = new WeakSet();

/** What is wrong with a principal, if anything; roles that we do not know are not wrong, but grant nothing. */
export function principalProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return 'it is not an object';
  if (checked.has(value)) return null;
  const problem = problemOf(value);
  if (problem === null && isDeepFrozen(value)) checked.add(value);
  return problem;
}

/** Freezes a value and all that is in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

function problemOf(value: object): string | null {
  const { subject, username, tenantId, roles, permissions, managedDeptIds, dataScope } = value as {
    readonly [K in keyof Principal]?: unknown;
  };
  if (!isName(subject, 128)) return 'subject must be text of 1 to 128 characters';
  if (!isName(username, 64)) return 'username must be text of 1 to 64 characters';
  if (typeof tenantId !== 'string' || !isTenantCode(tenantId)) return 'tenantId must be the code of a tenant';
  if (!isTexts(roles)) return 'roles must be a list of texts';
  if (tenantId !== PLATFORM_TENANT && roles.includes('superadmin'))
    return `superadmin exists only in tenant ${PLATFORM_TENANT}`;
  if (permissions !== undefined && !isTexts(permissions)) return 'permissions must be a list of texts';
  if (managedDeptIds !== undefined && !isDeptIds(managedDeptIds))
    return `managedDeptIds must be a list of at most ${MOST_IN_LIST} ids of departments as numbers`;
  if (dataScope !== undefined && !isDataScope(dataScope))
    return `dataScope must be a list of at most ${MOST_IN_LIST} parts { kind: 'all' }, { kind: 'own' } or { kind: 'depts', deptIds, below }, each with at most ${MOST_IN_LIST} ids as numbers`;
  return null;
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isName(value: unknown, max: number): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    // As the database counts: an emoji is one character.
    (value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max)) &&
    value.isWellFormed() &&
    // SQLite ends a text at NUL.
    !value.includes('\0')
  );
}
