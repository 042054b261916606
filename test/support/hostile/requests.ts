import { Chance } from '../chance';
import { hostileBody } from './bodies';
import { hostileAddress } from './addresses';
import { authorizationOf, headersOf } from './headers';
import { hostileTargets, type HostileTarget } from './operations';
import { rawRequest } from './raw-requests';
import type { HostileCaller } from './world';

export interface HostileRequest {
  readonly number: number;
  readonly caller: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | null;
  /** Bytes that no HTTP client would send, in place of all that. */
  readonly raw: Buffer | null;
  /** Whether those bytes end before the request does. */
  readonly isCut: boolean;
}

const ALL = hostileTargets();
/** Those that check or make a password take a hundred times what others do: they come less often. */
const SLOW = new Set(['login', 'token', 'createUser', 'changePassword']);
const WEIGHTED = ALL.flatMap((target) =>
  Array<HostileTarget>(SLOW.has(target.operationId) ? 2 : 5).fill(target),
);

const ODD_METHODS = [
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'LOCK',
  'PURGE',
  'SEARCH',
  'M-SEARCH',
  'LINK',
  'DELETE',
];
/** The request of this number in the run of this seed; the others need not be made for it. */
export function hostileRequest(
  seed: number,
  number: number,
  callers: readonly HostileCaller[],
): HostileRequest {
  const chance = new Chance(`${seed}/${number}`);
  const caller = chance.pick(callers);
  const target = chance.pick(WEIGHTED);
  const common = { number, caller: caller.name };
  const authorization = authorizationOf(caller, chance);
  if (chance.hit(0.04)) {
    const { raw, isCut } = rawRequest(authorization, caller, chance);
    return { ...common, method: 'RAW', target: '', headers: {}, body: null, raw, isCut };
  }
  const sent = target.bodies.length > 0 || chance.hit(0.02) ? bodyFor(target, caller, chance) : null;
  return {
    ...common,
    method: chance.hit(0.03) ? chance.pick(ODD_METHODS) : target.method,
    target: hostileAddress(target, caller, chance),
    headers: {
      ...(authorization !== null && { authorization }),
      ...sent?.headers,
      // Node's client would send a body with GET or HEAD without saying how long it is.
      ...(sent && { 'content-length': String(sent.body.length) }),
      ...headersOf(target, chance),
    },
    body: sent?.body ?? null,
    raw: null,
    isCut: false,
  };
}

function bodyFor(
  target: HostileTarget,
  caller: HostileCaller,
  chance: Chance,
): ReturnType<typeof hostileBody> {
  return hostileBody(
    target.bodies.length > 0 ? target : chance.pick(ALL.filter((each) => each.bodies.length > 0)),
    caller,
    chance,
  );
}
