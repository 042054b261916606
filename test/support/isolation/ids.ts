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
  readonly key: string;
}

/** Lets the administrator of a tenant list everything and use a key. */
export async function takeFrom(api: ApiClient, place: Place): Promise<Taken> {
  const cursor = async (path: string) =>
    ((await api.get(`${path}?limit=1`)).body.data as { nextCursor: string | null }).nextCursor;
  const key = `key of ${place.rowMark}`;
  await api.post('/system/dept-api', { deptName: 'once' }, { 'idempotency-key': key });
  return {
    deptCursor: await cursor('/system/dept-api'),
    userCursor: await cursor('/system/user-api'),
    tenantCursor: await cursor('/system/tenant-api'),
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
  const others = all.filter((place) => place !== actor.place && !isGone(place));
  const value = (place: Place) => valueOf(place, thing, taken.get(place.code));
  const some = (kind: Kind, places: readonly Place[]): ProbedId[] =>
    places.flatMap((place) => {
      const found = value(place);
      return found === null ? [] : [{ kind, value: found, of: place.name }];
    });
  const never = NEVER[thing as keyof typeof NEVER] as string | undefined;
  const isTenant =
    thing === 'tenant' || thing === 'code' || thing === 'tenantMark' || thing === 'tenantCursor';
  // A cursor is its list's, and a list is one tenant's, whoever stands above.
  const isForeign = (place: Place) =>
    thing === 'tenantCursor' || !isTenant || !mayRead(world, { ...actor, role: 'tenant_admin' }, place);
  const isAbove = ({ code }: Place) => code === actor.place.parent;
  const gone = all.filter(isGone);
  return [
    ...ownOf(actor, thing, value(actor.place), own),
    ...some(
      'foreign',
      others.filter((place) => isForeign(place) && !isAbove(place)),
    ),
    ...some(
      'above',
      others.filter((place) => isForeign(place) && isAbove(place)),
    ),
    ...deletedOf(actor, thing, gone),
    ...some(
      'recycled',
      thing.endsWith('Cursor') || thing === 'key'
        ? []
        : gone.filter(({ parent }) => !isTenant || parent !== actor.place.code),
    ),
    ...(never === undefined ? [] : [{ kind: 'never' as const, value: never }]),
    ...malformed(thing),
  ];
}

function ownOf(actor: Actor, thing: Thing, value: string | null, own: Own): ProbedId[] {
  if (thing === 'dept') return [{ kind: 'own', value: own.dept }];
  if (thing === 'user') return [{ kind: 'own', value: own.user }];
  const below: ProbedId[] = [];
  if (thing === 'tenant') below.push({ kind: 'below', value: async () => (await own.tenant()).id });
  if (thing === 'code') below.push({ kind: 'below', value: async () => (await own.tenant()).tenantId });
  // Of what was taken, a tenant's own is no probe.
  return value === null ? below : [{ kind: 'own', value, of: actor.place.name }, ...below];
}

function deletedOf({ place }: Actor, thing: Thing, gone: readonly Place[]): ProbedId[] {
  if (thing === 'dept') return [{ kind: 'deleted', value: String(place.depts.deleted) }];
  if (thing === 'user') return [{ kind: 'deleted', value: String(place.users.deleted) }];
  const below = gone.find(({ parent }) => parent === place.code);
  if (!below || (thing !== 'tenant' && thing !== 'code')) return [];
  return [{ kind: 'deleted', value: thing === 'tenant' ? below.id : below.code }];
}

function malformed(thing: Thing): ProbedId[] {
  if (thing === 'dept' || thing === 'user')
    return [
      { kind: 'text', value: 'abc' },
      { kind: 'huge', value: '9007199254740993' },
    ];
  if (thing !== 'tenant' && thing !== 'code') return [];
  return [
    { kind: 'text', value: 'abc' },
    { kind: 'huge', value: '9'.repeat(23) },
  ];
}

function valueOf(place: Place, thing: Thing, taken: Taken | undefined): string | null {
  switch (thing) {
    case 'dept':
      return String(place.depts.live);
    case 'user':
      return String(place.users.live);
    case 'tenant':
      return place.id;
    case 'code':
      return place.code;
    case 'tenantMark':
      return place.tenantMark;
    case 'mark':
      return place.rowMark;
    default:
      return taken?.[thing] ?? null;
  }
}
