import { signToken } from '../../../src/server/auth/token-issuer';
import type { Role } from '../../../src/tenancy/roles';
import { mintToken } from '../../../src/server/testing';
import { JWT } from '../service-under-test';
import { newKeySecret } from '../../../src/server/auth/key-secret';
import type { Kind, Outcome, Probe } from './probes';
import type { IsolationWorld, Place } from './world';

export interface Actor {
  readonly name: string;
  readonly place: Place;
  readonly token: string | null;
  readonly role: Role | null;
  /** What such a caller is answered, whatever is asked. */
  readonly refused?: Outcome;
}

/** Everybody whom the issue names, and tokens whose claims do not belong together. */
export function actorsIn({ places }: IsolationWorld): Actor[] {
  const { platform, parent, child, sibling } = places;
  const admin = (name: string, place: Place): Actor => ({
    name,
    place,
    token: mintToken({ tenantId: place.code }),
    role: 'tenant_admin',
  });
  const refused = (name: string, token: string | null, reason: Outcome): Actor => ({
    ...{ name, place: child, token, role: null },
    refused: reason,
  });
  const account = (userId: number, jti?: string) =>
    signToken(
      { subject: `account:${userId}`, tenantId: child.code, username: 'x', roles: ['tenant_admin'] },
      JWT,
      600,
      jti,
    );
  return [
    { name: 'platform', place: platform, token: mintToken({ roles: ['superadmin'] }), role: 'superadmin' },
    admin('parent', parent),
    admin('child', child),
    admin('sibling', sibling),
    {
      name: 'member',
      place: child,
      token: mintToken({ tenantId: child.code, roles: ['member'] }),
      role: 'member',
    },
    {
      ...{ name: 'part administrator', place: child, role: 'dept_admin' },
      // Somebody else than the administrator: the same person would be answered again what was answered before.
      token: mintToken({
        ...{ tenantId: child.code, username: 'part', roles: ['dept_admin'] },
        managedDeptIds: [child.depts.live],
      }),
    },
    // Its token says that it manages; the account it names does not.
    { name: 'member by its account', place: child, token: account(child.users.live), role: 'member' },
    { name: 'key', place: child, token: child.secrets.live, role: 'tenant_admin' },
    refused('nobody', null, 'TOKEN_MISSING'),
    refused(
      'superadmin of a tenant',
      mintToken({ tenantId: child.code, roles: ['superadmin'] }),
      'TOKEN_INVALID',
    ),
    refused('account of another tenant', account(sibling.users.live), 'TOKEN_INVALID'),
    refused('deleted key', child.secrets.deleted, 'KEY_INVALID'),
    refused('key of a deleted tenant', places['gone below parent'].secrets.live, 'TENANT_DELETED'),
    refused('key that was never given', newKeySecret(), 'KEY_INVALID'),
    refused('mistyped key', `${child.secrets.live}x`, 'KEY_MISTYPED'),
    refused('deleted account', account(child.users.deleted), 'TOKEN_INVALID'),
    refused('session of another tenant', account(child.users.live, `${sibling.session}.x`), 'TOKEN_INVALID'),
    refused('deleted tenant', mintToken({ tenantId: places['gone below parent'].code }), 'TENANT_DELETED'),
    refused('no tenant', mintToken({ tenantId: NEVER.code }), 'TENANT_DELETED'),
  ];
}

/** Ids that nothing ever had. */
export const NEVER = {
  ...{
    dept: '4199999999',
    user: '4199999998',
    hook: '4199999997',
    machineKey: '4199999996',
    tenant: '1799999999999999999',
    code: '7654321',
  },
  ...{ mark: 'R99markQ', tenantMark: 'T99markQ', deptCursor: 'abc', userCursor: 'abc', tenantCursor: 'abc' },
  machineKeyCursor: 'abc',
  ...{ entryCursor: 'abc', spent: 'never-spent', reservation: 'never-reserved' },
} as const;

/** What docs/api.md promises this actor for this kind of id in this position. */
export function expectedOf({ role, refused }: Actor, probe: Probe, kind: Kind): Outcome {
  if (probe.needs !== 'nothing') {
    if (refused !== undefined) return refused;
    const isForRole = role === 'dept_admin' ? FOR_PARTS.test(probe.operation) : role !== 'member';
    const mayNot = probe.needs === 'manager' && !isForRole;
    if (mayNot && !(probe.isLate && isMalformed(kind))) return 'ROLE_REQUIRED';
  }
  const ofPart = role === 'dept_admin' ? OF_PARTS[`${probe.operation} ${probe.position}`] : undefined;
  const special = ofPart?.[kind] ?? (isMalformed(kind) ? undefined : ofPart?.all);
  if (special !== undefined) return special;
  if (kind === 'own') return probe.own;
  if (kind === 'deleted') return probe.deleted ?? probe.unknown;
  if (kind === 'below') return probe.below ?? probe.unknown;
  if (kind === 'above') return probe.above ?? probe.unknown;
  if (kind === 'text') return probe.text ?? 'INVALID_INPUT';
  return kind === 'huge' ? (probe.huge ?? 'INVALID_INPUT') : probe.unknown;
}

/** What a part administrator may do, beside reading. */
const FOR_PARTS =
  /^(create|update|patch|delete|restore|order|import)(Dept|User)s?$|^get(Dept|User)History$|^(list|get)Users?$|^(list|end)UserSessions?$|^changePassword$/;

const OUTSIDE = 'OUTSIDE_MANAGED_DEPTS';
/** What a part administrator is answered where administrators of the tenant are answered otherwise. */
const OF_PARTS: Readonly<Record<string, Partial<Record<Kind | 'all', Outcome>>>> = {
  'createDept Idempotency-Key': { all: OUTSIDE },
  'createDept tenantId': { own: OUTSIDE },
  'importDepts columns of others': { all: OUTSIDE, text: OUTSIDE, huge: OUTSIDE },
  // The row of this world that is deleted stood at the top level.
  'getDeptHistory path': { deleted: OUTSIDE },
  'restoreDept path': { deleted: OUTSIDE },
  // Its own departments are below the one that it manages, not at the top level.
  'orderDepts deptIds': { own: 'DEPT_NOT_A_CHILD' },
  'orderDepts deptIds, among own': { own: 'DEPT_NOT_A_CHILD' },
  'createUser tenantId': {
    own: 'ROLE_TOO_HIGH',
    all: 'TENANT_MISMATCH',
    text: 'TENANT_MISMATCH',
    huge: 'TENANT_MISMATCH',
  },
  'patchUser managedDeptIds': { all: 'ROLE_TOO_HIGH' },
  // The account of this world that is deleted was in no department.
  'getUserHistory path': { deleted: OUTSIDE },
  // A replaced account that names no department would leave the part.
  'updateUser userId': { own: OUTSIDE },
  'updateUser userId, with a tag': { own: OUTSIDE },
  'updateUser tenantId': { own: OUTSIDE },
};

function isMalformed(kind: Kind): boolean {
  return kind === 'text' || kind === 'huge';
}

/** Whether an actor may read the fields of this tenant: its own, or one below it. */
export function mayRead({ places }: IsolationWorld, { place, refused, role }: Actor, other: Place): boolean {
  if (refused !== undefined) return false;
  if (other.code === place.code) return true;
  const above = Object.values(places).find(({ code }) => code === other.parent);
  return (
    role !== 'member' &&
    role !== 'dept_admin' &&
    above !== undefined &&
    mayRead({ places } as IsolationWorld, { place, role } as Actor, above)
  );
}
