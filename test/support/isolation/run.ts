import { createHash } from 'node:crypto';
import { MoreThan, type DataSource } from 'typeorm';
import { TenantryWebhook } from '../../../src/changes/subscription.entity';
import { signToken } from '../../../src/server/auth/token-issuer';
import { aDept, aTenant, aUser, type Answer, type ApiClient, mintToken } from '../../../src/server/testing';
import { PLATFORM_TENANT } from '../../../src/tenancy/tenant-code';
import { serviceTables } from '../../../src/server/service-data-source';
import { Chance } from '../chance';
import { JWT, type ServiceUnderTest } from '../service-under-test';
import { actorsIn, expectedOf, mayRead, type Actor } from './actors';
import { idsFor, takeFrom, type ProbedId, type Taken } from './ids';
import { PROBES, type Outcome, type Own, type Probe } from './probes';
import { recordScopes, statementProblems, tablesOfTenants } from './statements';
import { accountRow, isolationWorld, keyRow, webhookRow, type IsolationWorld, type Place } from './world';

export interface IsolationRun {
  readonly service: ServiceUnderTest;
  readonly seed: number;
  /** The part of all probes that is sent; actors that are refused everything send a tenth of it. */
  readonly share: number;
  /** Whether every role asks about every kind of tenant, whatever the share. */
  readonly everyRole: boolean;
}

export interface IsolationReport {
  readonly problems: readonly string[];
  readonly probes: number;
  readonly statements: number;
}

/** Kinds that must not be told apart. */
const ALIKE: ReadonlySet<string> = new Set(['foreign', 'above', 'deleted', 'recycled', 'never']);

/** Sends every probe of every actor, and tells what is not as promised: answers, rows of others, statements. */
export async function runIsolation(run: IsolationRun): Promise<IsolationReport> {
  const { dataSource, anonymous } = run.service;
  const chance = new Chance(run.seed);
  const problems: string[] = [];
  let [probes, statements] = [0, 0];
  // Of the test itself, whose own statements are not looked at.
  const store = await run.service.database.open(serviceTables);
  const world = await isolationWorld(store, anonymous);
  const taken = new Map<string, Taken>();
  for (const place of Object.values(world.places).filter(({ name }) => !name.startsWith('gone'))) {
    taken.set(place.code, await takeFrom(adminOf(anonymous, place), place));
  }
  let before = await hashRows(dataSource);
  /** Lets one actor work; only rows of its tenant may change. */
  const act = async (name: string, code: string | null, work: (tenants: Set<string>) => Promise<void>) => {
    const tenants = new Set(code === null ? [] : [code]);
    const sent = await recordScopes(dataSource, () => work(tenants));
    statements += sent.length;
    // An actor that is refused may name any tenant; that it is looked up is no access to its rows.
    const wrong = statementProblems(dataSource, sent, code === null ? null : tenants);
    const after = await hashRows(dataSource);
    const changed = [...before].filter(
      ([key, hash]) => after.get(key) !== hash && !key.startsWith(`${code} `),
    );
    problems.push(...wrong.map((problem) => `${name}: ${problem}`));
    problems.push(...changed.map(([key]) => `${name} has changed ${key}`));
    before = after;
  };
  for (const actor of actorsIn(world)) {
    await act(actor.name, actor.refused === undefined ? actor.place.code : null, async (tenants) => {
      const own = ownOf(anonymous, store, actor, tenants);
      await removeMadeHooks(store, actor, taken);
      const isRefused = actor.refused !== undefined && actor.refused !== 'TOKEN_MISSING';
      const share = isRefused ? run.share / 10 : run.share;
      for (const probe of PROBES.filter(({ needs }) => needs !== 'nothing' || actor.token === null)) {
        const all = idsFor(world, actor, probe.thing, taken, own);
        const ids = all.filter(
          (id) => chance.hit(share) || (run.everyRole && isAlwaysSent(id, all, actor, probe)),
        );
        probes += ids.length;
        problems.push(...(await probeWith(probe, ids, actor, own, world, anonymous)));
      }
    });
  }
  await act('signing in', world.places.child.code, () => signInAndOut(anonymous, world));
  return { problems, probes, statements };
}

/** A tenant may have only a few webhooks, and the actor before may have made them; the first one is others' to ask for. */
async function removeMadeHooks(
  store: DataSource,
  { refused, place: { code: tenantId } }: Actor,
  taken: ReadonlyMap<string, Taken>,
): Promise<void> {
  const first = Number(taken.get(tenantId)?.hook ?? 0);
  if (refused === undefined)
    await store.manager.delete(TenantryWebhook, { tenantId, webhookId: MoreThan(first) });
}

/**
 * Whatever the share, each operation is asked by a member and by an administrator next door, and tenants by everybody with a role:
 * once about an id of each kind that differs by the place of a tenant.
 */
function isAlwaysSent(id: ProbedId, all: readonly ProbedId[], actor: Actor, { thing }: Probe): boolean {
  const isAsked = ['tenant', 'code'].includes(thing) || ['member', 'sibling'].includes(actor.name);
  const isFirst = all.find(({ kind }) => kind === id.kind) === id;
  return actor.role !== null && isAsked && isFirst && ['own', 'below', 'above', 'foreign'].includes(id.kind);
}

async function probeWith(
  probe: Probe,
  ids: readonly ProbedId[],
  actor: Actor,
  own: Own,
  world: IsolationWorld,
  anonymous: ApiClient,
): Promise<string[]> {
  const problems: string[] = [];
  const client = actor.token === null ? anonymous : anonymous.as(actor.token);
  const api = client.with({ 'x-request-id': 'probe' });
  const secrets = secretsOf(world, actor);
  const shapes = new Map<string, string>();
  for (const { kind, value, of = 'nobody' } of ids) {
    const id = String(typeof value === 'string' ? value : await value());
    const name = `${actor.name}: ${probe.operation} ${probe.position} = ${kind} of ${of}`;
    try {
      const answer = await probe.send(api, id, own);
      const [told, expected] = [outcomeOf(answer), expectedOf(actor, probe, kind)];
      if (told !== expected && !(expected === 'OK' && told === 'EMPTY'))
        problems.push(`${name}: ${told}, not ${expected}: ${answer.text.slice(0, 200)}`);
      const all = `${JSON.stringify(answer.headers)} ${answer.text}`;
      const leak = secrets.find((secret) => all.includes(secret) && !id.includes(secret));
      if (leak !== undefined) problems.push(`${name} tells ${leak}: ${answer.text.slice(0, 500)}`);
      const isAlike = ALIKE.has(kind) && !(kind === 'deleted' && probe.deleted !== undefined);
      if (isAlike && told !== 'OK') shapes.set(shapeOf(answer, id), name);
    } catch (error) {
      problems.push(`${name}: ${String(error)}`);
    }
  }
  if (shapes.size > 1) problems.push(`told apart: ${[...shapes].map((pair) => pair.join(' ')).join(' | ')}`);
  return problems;
}

function adminOf(anonymous: ApiClient, { code }: Place): ApiClient {
  return anonymous.as(mintToken({ tenantId: code, username: 'maker' }));
}

/** Rows to spoil, made by an administrator of the tenant; an actor that is refused everything gets the tenant's only ones. */
function ownOf(anonymous: ApiClient, store: DataSource, actor: Actor, tenants: Set<string>): Own {
  const { place, refused } = actor;
  if (refused !== undefined) {
    return {
      dept: () => Promise.resolve(place.depts.live),
      deletedDept: () => Promise.resolve(place.depts.deleted),
      deletedTenant: () => Promise.resolve(place),
      user: () => Promise.resolve(place.users.live),
      machineKey: () => Promise.resolve(place.keys.live),
      hook: () => Promise.resolve(1),
      reservation: () => Promise.resolve('reserved'),
      tenant: () => Promise.resolve({ id: place.id, tenantId: place.code }),
    };
  }
  const admin = adminOf(anonymous, place);
  const isPart = actor.role === 'dept_admin';
  const dept = () => aDept(admin, { deptName: 'own', parentId: isPart ? place.depts.live : 0 });
  let lastKey = 0;
  const tenant = async () => {
    const made = await aTenant(admin, { tenantName: 'own' });
    tenants.add(made.tenantId);
    return made;
  };
  return {
    dept,
    tenant,
    user: () => accountRow(store, place.code, isPart ? { deptId: place.depts.live } : {}),
    machineKey: async () => {
      // Instead of the last one: a tenant may have only a hundred.
      if (lastKey > 0) await admin.delete(`/system/key-api/${lastKey}`);
      return (lastKey = await keyRow(store, place.code));
    },
    hook: () => webhookRow(store, place.code),
    reservation: async () => {
      const key = `own-${Math.random()}`;
      const body = { key, amount: 1, seconds: 3600 };
      await admin.post('/system/quota-api/riskReport/reservations', body);
      return key;
    },
    deletedDept: async () => {
      const id = await dept();
      await admin.delete(`/system/dept-api/${id}`);
      return id;
    },
    deletedTenant: async () => {
      const made = await tenant();
      await admin.delete(`/system/tenant-api/${made.id}`);
      return made;
    },
  };
}

/** What an answer says, in one word. */
function outcomeOf(answer: Answer): Outcome {
  if (answer.status !== 200) return answer.refusal.reason;
  if (!answer.headers['content-type']?.startsWith('application/json')) return 'OK';
  const { rows } = (answer.body.data ?? {}) as { rows?: unknown[] };
  return rows?.length === 0 ? 'EMPTY' : 'OK';
}

/** Texts and ids that this actor must never read. */
function secretsOf(world: IsolationWorld, actor: Actor): string[] {
  return Object.values(world.places).flatMap((place) => {
    const isOwn = place === actor.place && actor.refused === undefined;
    const { depts, users, keys, session, secrets } = place;
    const ids = [depts.live, users.live, users.deleted, keys.live, keys.deleted].map(String);
    const ofRows = [place.rowMark, session, ...ids, ...Object.values(secrets)];
    // The platform's id and code are in every second number; and a tenant knows the code of the one above it.
    const isCommon = place.parent === null;
    const ofTenant = [
      ...(isCommon ? [] : [place.id]),
      ...(isCommon || place.code === actor.place.parent ? [] : [place.code]),
    ];
    return [
      ...(isOwn ? [String(depts.deleted)] : [...ofRows, String(depts.deleted)]),
      ...(mayRead(world, actor, place) ? [] : [place.tenantMark, ...ofTenant]),
    ];
  });
}

/** The answer without what belongs to this very request. */
function shapeOf({ status, headers, text }: Answer, sent: string): string {
  const names = Object.keys(headers).sort().join();
  // A short one may be part of anything.
  return `${status} ${names} ${sent.length < 3 ? text : text.replaceAll(sent, '<id>')}`;
}

/** A hash of all rows of each tenant in each table, by `<tenant> <table>`. */
async function hashRows(dataSource: DataSource): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const table of tablesOfTenants(dataSource)) {
    const rows = await dataSource.query<Record<string, unknown>[]>(`SELECT * FROM ${table}`);
    const byTenant = new Map<string, string[]>();
    // A wrong password for a name that no account has belongs to no tenant.
    for (const row of rows.filter(({ tenant_id: code }) => code !== null)) {
      // Every change of any tenant raises the platform's: it is their lock.
      // The last use of a key is written beside its requests, sooner or later.
      const { tree_ver, last_used_time: _, ...rest } = row;
      const told = row.tenant_id === PLATFORM_TENANT ? rest : { ...rest, tree_ver };
      // An entry about a tenant ends with its code, and stands in the journal of the platform.
      const about = typeof row.lineage === 'string' ? /,([^,]+),$/.exec(row.lineage)?.[1] : undefined;
      const key = `${about ?? String(row.tenant_id)} ${table}`;
      byTenant.set(key, [...(byTenant.get(key) ?? []), JSON.stringify(told)]);
    }
    for (const [key, texts] of byTenant) {
      hashes.set(key, createHash('sha256').update(texts.sort().join('\n')).digest('hex'));
    }
  }
  return hashes;
}

/** All that a session can meet, in the child's tenant; and sign-outs that name the session of another. */
async function signInAndOut(anonymous: ApiClient, { places }: IsolationWorld): Promise<void> {
  const { code: tenantId } = places.child;
  const [username, password] = ['visitor', 'a-long-password'];
  const next = `${password} 2`;
  const userId = await aUser(anonymous.as(mintToken({ tenantId })), { username, password });
  const login = (tried: string) => anonymous.post('/auth/login', { tenantId, username, password: tried });
  const tokensIn = ({ body }: Answer) => body.data as { accessToken: string; refreshToken: string };
  const refresh = (refreshToken: string) => anonymous.post('/auth/refresh', { refreshToken });
  await login('wrong-password');
  const tokens = tokensIn(await login(password));
  const api = anonymous.as(tokens.accessToken);
  await api.get('/auth/me');
  const renewed = tokensIn(await refresh(tokens.refreshToken));
  await api.put('/system/user-api/password', { oldPassword: password, newPassword: next });
  await refresh(renewed.refreshToken);
  await anonymous.as(tokensIn(await login(next)).accessToken).post('/auth/logout', undefined);
  // A token of an outside provider may say any session; it says its tenant, too.
  for (const subject of ['test|somebody', `account:${userId}`]) {
    const mixed = { subject, tenantId, username, roles: ['tenant_admin'] as const };
    const token = signToken(mixed, JWT, 600, `${places.sibling.session}.x`);
    await anonymous.as(token).post('/auth/logout', undefined);
  }
}
