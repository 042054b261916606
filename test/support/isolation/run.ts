import { aDept, aTenant, type ApiClient, mintToken } from '../../../src/server/testing';
import { Chance } from '../chance';
import type { ServiceUnderTest } from '../service-under-test';
import { SIGN_IN_PROBES, TENANT_PROBES, USER_PROBES } from './account-probes';
import { actorsIn, expectedOf, type Actor } from './actors';
import { DEPT_PROBES } from './dept-probes';
import { idsFor, takeFrom, type ProbedId, type FindOptions } from './ids';
import { isAsExpected, leakIn, outcomeOf, secretsOf, shapeOf } from './judge';
import type { Own, Probe } from './probe';
import { hashRows } from './rows';
import { signInAndOut } from './sign-in-tour';
import { logStatements } from './statement-log';
import { statementProblems } from './statement-problems';
import { accountRow, isolationWorld, type IsolationWorld, type Place } from './world';

export const PROBES: readonly Probe[] = [...DEPT_PROBES, ...USER_PROBES, ...TENANT_PROBES, ...SIGN_IN_PROBES];

export interface IsolationRun {
  readonly service: ServiceUnderTest;
  readonly seed: number;
  /** The part of all probes that is sent; those who are refused everything send a tenth of it. */
  readonly share: number;
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
  const phases = new Map<string, Set<string> | null>();
  let probes = 0;
  const statements = await logStatements(dataSource, async (mark) => {
    // In here: MariaDB tells the values only of statements that were prepared while it wrote its log.
    const world = await isolationWorld(dataSource, anonymous);
    const taken = new Map<string, FindOptions>();
    for (const place of Object.values(world.places).filter(({ name }) => !name.startsWith('gone'))) {
      taken.set(place.code, await takeFrom(adminOf(anonymous, place), place));
    }
    let before = await hashRows(dataSource);
    /** One who acts, and whose rows that may change. */
    const act = async (name: string, code: string | null, work: (tenants: Set<string>) => Promise<void>) => {
      const tenants = new Set(code === null ? [] : [code]);
      // Who is refused, or signs in, may name any tenant; that it is looked up is no access to its rows.
      phases.set(name, code === null ? null : tenants);
      await mark(name);
      await work(tenants);
      await mark('');
      const after = await hashRows(dataSource);
      const changed = [...before].filter(
        ([key, hash]) => after.get(key) !== hash && !key.startsWith(`${code} `),
      );
      problems.push(...changed.map(([key]) => `${name} has changed ${key}`));
      before = after;
    };
    for (const actor of actorsIn(world)) {
      await act(actor.name, actor.refused === undefined ? actor.place.code : null, async (tenants) => {
        const own = ownOf(run.service, actor, tenants);
        for (const probe of PROBES.filter(({ needs }) => needs !== 'nothing' || actor.token === null)) {
          const ids = chosen(idsFor(world, actor, probe.thing, taken, own), actor, chance, run.share);
          probes += ids.length;
          problems.push(...(await probeWith(probe, ids, actor, own, world, anonymous)));
        }
      });
    }
    await act('signing in', world.places.child.code, () => signInAndOut(anonymous, world));
  });
  problems.push(...statementProblems(dataSource, statements, phases));
  return { problems, probes, statements: statements.length };
}

/** By chance; what never was is always there to compare with. */
function chosen(ids: readonly ProbedId[], { refused }: Actor, chance: Chance, share: number): ProbedId[] {
  const part = refused === undefined || refused === 'TOKEN_MISSING' ? share : share / 10;
  return ids.filter(() => chance.hit(part));
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
  const api = (actor.token === null ? anonymous : anonymous.as(actor.token)).with({
    'x-request-id': 'probe',
  });
  const secrets = secretsOf(world, actor);
  const shapes = new Map<string, string>();
  for (const { kind, value, of } of ids) {
    const id = String(typeof value === 'string' ? value : await value());
    const name = `${actor.name}: ${probe.operation} ${probe.position} = ${kind}${of === undefined ? '' : ` (${of})`}`;
    try {
      const answer = await probe.send(api, id, own);
      const [told, expected] = [outcomeOf(answer), expectedOf(actor, probe, kind)];
      if (!isAsExpected(told, expected))
        problems.push(`${name}: ${told}, not ${expected}: ${answer.text.slice(0, 200)}`);
      const leak = leakIn(answer, secrets, id);
      if (leak !== undefined) problems.push(`${name} tells ${leak}: ${answer.text.slice(0, 500)}`);
      if (ALIKE.has(kind) && told !== 'OK') shapes.set(shapeOf(answer, id), name);
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

/** Rows to spoil, made by an administrator of the tenant; who is refused everything gets the tenant's only ones. */
function ownOf({ anonymous, dataSource }: ServiceUnderTest, actor: Actor, tenants: Set<string>): Own {
  const { place, refused } = actor;
  if (refused !== undefined) {
    return {
      dept: () => Promise.resolve(place.depts.live),
      user: () => Promise.resolve(place.users.live),
      tenant: () => Promise.resolve({ id: place.id, tenantId: place.code }),
    };
  }
  const admin = adminOf(anonymous, place);
  return {
    dept: () => aDept(admin, { deptName: 'own' }),
    user: () => accountRow(dataSource, place.code),
    tenant: async () => {
      const made = await aTenant(admin, { tenantName: 'own' });
      tenants.add(made.tenantId);
      return made;
    },
  };
}
