import type { ApiClient } from '../../../src/server/testing';
import { mayRead, NEVER, type Actor } from './actors';
import type { Kind, Own, Thing } from './probes';
import type { IsolationWorld, Place } from './world';

/** An id to probe with; `of` is whose it is, where it is somebody's. */
export interface ProbedId {
  readonly kind: Kind;
  readonly value: string | (() => Promise<string | number>);
  readonly of?: string;
}

/** Cursors and keys of one tenant, taken the way its own users get them. */
export interface Taken {
  readonly deptCursor: string | null;
  readonly userCursor: string | null;
  readonly tenantCursor: string | null;
  readonly entryCursor: string | null;
  readonly machineKeyCursor: string | null;
  readonly key: string;
  readonly hook: string;
  readonly spent: string;
  readonly reservation: string;
}

const QUOTAS = '/system/quota-api';

export async function takeFrom(api: ApiClient, place: Place): Promise<Taken> {
  const cursor = async (path: string) =>
    ((await api.get(`${path}?limit=1`)).body.data as { nextCursor: string | null }).nextCursor;
  const key = `key of ${place.rowMark}`;
  await api.post('/system/dept-api', { deptName: 'once' }, { 'idempotency-key': key });
  const hook = await api.post('/system/webhook-api', { url: 'http://127.0.0.1:9/', status: '1' });
  const spent = `spent-${place.rowMark}`;
  const reservation = `reserved-${place.rowMark}`;
  for (const kind of ['riskReport', 'merchant', 'chainReport'])
    await api.post(`${QUOTAS}/${kind}/use`, { key: spent });
  await api.post(`${QUOTAS}/riskReport/use`, { key: `${spent} too`, note: place.rowMark });
  await api.post(`${QUOTAS}/riskReport/reservations`, { key: reservation, amount: 1, seconds: 3600 });
  return {
    spent,
    reservation,
    entryCursor: await cursor(`${QUOTAS}/riskReport/entries`),
    hook: String((hook.body.data as { id: number }).id),
    deptCursor: await cursor('/system/dept-api'),
    userCursor: await cursor('/system/user-api'),
    tenantCursor: await cursor('/system/tenant-api'),
    machineKeyCursor: await cursor('/system/key-api'),
    key,
  };
}

/** Every kind of id of this thing for this actor; of foreign ones, one for each tenant. */
export function idsFor(
  world: IsolationWorld,
  actor: Actor,
  thing: Thing,
  taken: ReadonlyMap<string, Taken>,
  own: Own,
): ProbedId[] {
  const all = Object.values(world.places);
  const isGone = ({ name }: Place) => name.startsWith('gone');
  const gone = all.filter(isGone);
  const others = all.filter((place) => place !== actor.place && !isGone(place));
  const value = (place: Place) => valuesOf(place, taken.get(place.code))[thing] ?? null;
  const some = (kind: Kind, places: readonly Place[]): ProbedId[] =>
    places.flatMap((place) => {
      const found = value(place);
      return found === null ? [] : [{ kind, value: found, of: place.name }];
    });
  const isTenant = ['tenant', 'code', 'tenantMark', 'tenantCursor'].includes(thing);
  // A cursor belongs to a list of one tenant, also for the tenants above it.
  const isForeign = (place: Place) =>
    thing === 'tenantCursor' || !isTenant || !mayRead(world, { ...actor, role: 'tenant_admin' }, place);
  const isAbove = ({ code }: Place) => code === actor.place.parent;
  const isBelow = (place: Place) => mayRead(world, { ...actor, role: 'tenant_admin' }, place);
  const isReused = !thing.endsWith('Cursor') && !['key', 'spent', 'reservation'].includes(thing);
  const foreign = others.filter(isForeign);
  const never = NEVER[thing as keyof typeof NEVER] as string | undefined;
  return [
    ...ownOf(actor, thing, value(actor.place), own),
    ...some(
      'foreign',
      foreign.filter((place) => !isAbove(place)),
    ),
    ...some('above', foreign.filter(isAbove)),
    ...(isTenant ? some('deleted', gone.filter(isBelow)) : deletedOf(actor, thing)),
    ...some(
      'recycled',
      gone.filter((place) => isReused && !(isTenant && isBelow(place))),
    ),
    ...(never === undefined ? [] : [{ kind: 'never' as const, value: never }]),
    ...malformed(thing),
  ];
}

function ownOf(actor: Actor, thing: Thing, value: string | null, own: Own): ProbedId[] {
  if (thing === 'dept') return [{ kind: 'own', value: own.dept }];
  if (thing === 'user') return [{ kind: 'own', value: own.user }];
  if (thing === 'machineKey') return [{ kind: 'own', value: own.machineKey }];
  if (thing === 'hook') return [{ kind: 'own', value: own.hook }];
  if (thing === 'reservation') return [{ kind: 'own', value: own.reservation }];
  const below: ProbedId[] = [];
  if (thing === 'tenant') below.push({ kind: 'below', value: async () => (await own.tenant()).id });
  if (thing === 'code') below.push({ kind: 'below', value: async () => (await own.tenant()).tenantId });
  return value === null ? below : [{ kind: 'own', value, of: actor.place.name }, ...below];
}

function deletedOf({ place }: Actor, thing: Thing): ProbedId[] {
  const deleted = { dept: place.depts.deleted, user: place.users.deleted, machineKey: place.keys.deleted };
  return thing in deleted ? [{ kind: 'deleted', value: String(deleted[thing as keyof typeof deleted]) }] : [];
}

function malformed(thing: Thing): ProbedId[] {
  const huge = {
    dept: '9007199254740993',
    user: '9007199254740993',
    hook: '9007199254740993',
    machineKey: '9007199254740993',
    tenant: '9'.repeat(23),
    code: '9'.repeat(23),
  };
  if (!(thing in huge)) return [];
  return [
    { kind: 'text', value: 'abc' },
    { kind: 'huge', value: huge[thing as keyof typeof huge] },
  ];
}

function valuesOf(place: Place, taken: Taken | undefined): Partial<Record<Thing, string | null>> {
  const { depts, users, keys, session, id: tenant, code, tenantMark, rowMark: mark } = place;
  const ids = { dept: String(depts.live), user: String(users.live), machineKey: String(keys.live) };
  return { ...taken, ...ids, session, tenant, code, tenantMark, mark };
}
