import type { Answer } from '../../../src/server/testing';
import { mayRead, type Actor } from './actors';
import type { Outcome } from './probe';
import type { IsolationWorld } from './world';

/** What an answer says, in one word. */
export function outcomeOf(answer: Answer): Outcome {
  if (answer.status !== 200) return answer.refusal.reason;
  if (!answer.headers['content-type']?.startsWith('application/json')) return 'OK';
  const { rows } = (answer.body.data ?? {}) as { rows?: unknown[] };
  return rows?.length === 0 ? 'EMPTY' : 'OK';
}

export function isAsExpected(told: Outcome, expected: Outcome): boolean {
  return told === expected || (expected === 'OK' && told === 'EMPTY');
}

/** Texts and ids that this actor must never read. */
export function secretsOf(world: IsolationWorld, actor: Actor): string[] {
  return Object.values(world.places).flatMap((place) => {
    const isOwn = place === actor.place && actor.refused === undefined;
    const { depts, users, session } = place;
    const ofRows = [place.rowMark, session, ...[depts.live, users.live, users.deleted].map(String)];
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

/** The first secret in an answer that was not in the question. */
export function leakIn(
  { headers, text }: Answer,
  secrets: readonly string[],
  sent: string,
): string | undefined {
  const all = `${JSON.stringify(headers)} ${text}`;
  return secrets.find((secret) => all.includes(secret) && !sent.includes(secret));
}

/** The answer without what belongs to this very request. */
export function shapeOf({ status, headers, text }: Answer, sent: string): string {
  const names = Object.keys(headers).sort().join();
  // A short one may be part of anything.
  return `${status} ${names} ${sent.length < 3 ? text : text.replaceAll(sent, '<id>')}`;
}
