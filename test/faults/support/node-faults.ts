import type { Chance } from '../../support/chance';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GaleraCluster, NODES, type NodeNumber } from './galera-cluster';
import type { WriteLoad } from '../../support/write-load';

export type NodeFault = 'kill' | 'freeze' | 'isolate';

export interface Strike {
  readonly fault: NodeFault;
  readonly onWriter: boolean;
}

export interface Outage extends Strike {
  readonly node: NodeNumber;
  /** The longest time without an acknowledged write, and how long after the strike it began. */
  readonly gapMs: number;
  readonly gapAt: number;
  readonly retries: number;
}

const HOLD_MS = 4000;
const REST_MS = 1000;

/** Each kind four times: twice on the node that writes, twice on one that does not. */
export function strikes(chance: Chance): Strike[] {
  const all = (['kill', 'freeze', 'isolate'] as const).flatMap((fault) =>
    [true, true, false, false].map((onWriter) => ({ fault, onWriter })),
  );
  return chance.shuffled(all);
}

/** Strikes one node, lets it lie, mends it, and waits until all three are whole again: there is always a majority. */
export async function strikeOnce(
  cluster: GaleraCluster,
  { fault, onWriter }: Strike,
  chance: Chance,
  load: WriteLoad,
): Promise<Outage> {
  const writer = await cluster.writer();
  const others = NODES.filter((each) => each !== writer);
  const node = onWriter ? writer : chance.pick(others);
  const [began, before] = [performance.now(), load.retried];
  if (fault === 'isolate') await cluster.isolate(node);
  else cluster[fault](node);
  await sleep(HOLD_MS);
  await cluster.mend(node, fault);
  for (const each of NODES) await cluster.untilFit(each);
  await sleep(REST_MS);
  const { gap, at } = longestGap(load.acknowledgedAt, began, performance.now());
  const retries = load.retried - before;
  return { fault, onWriter, node, gapMs: Math.round(gap), gapAt: Math.round(at - began), retries };
}

/** The longest stretch between two of these moments, or between one and the ends; and when it began. */
export function longestGap(
  moments: readonly number[],
  from: number,
  to: number,
): { readonly gap: number; readonly at: number } {
  let longest = { gap: 0, at: from };
  let last = from;
  for (const each of [
    ...moments.filter((moment) => moment > from && moment < to).sort((a, b) => a - b),
    to,
  ]) {
    if (each - last > longest.gap) longest = { gap: each - last, at: last };
    last = each;
  }
  return longest;
}
