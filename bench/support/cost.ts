import { closedLoad, type ClosedLoad } from '../../test/support/load';

export interface CountedLoad extends ClosedLoad {
  /** How many requests are counted. */
  readonly requests: number;
  /** How many come before them: with one of each caller, what a server remembers of callers for some seconds is there. */
  readonly leadIn: number;
  /** CPU time so far, in milliseconds. */
  readonly cpuMs: () => number;
}

/** How many requests are sent, with those that are not counted. */
export function sentBy(load: Pick<CountedLoad, 'leadIn' | 'requests' | 'connections'>): number {
  return load.leadIn + load.requests + load.connections;
}

/** CPU time per request, in microseconds, in the midst of work: all connections are open and busy at the first and at the last. */
export async function costOf({ leadIn, cpuMs, ...load }: CountedLoad): Promise<number> {
  let [before, after] = [0, 0];
  await closedLoad({
    ...load,
    requests: sentBy({ leadIn, ...load }),
    request(connection, n) {
      if (n === leadIn) before = cpuMs();
      if (n === leadIn + load.requests) after = cpuMs();
      return load.request(connection, n);
    },
  });
  return ((after - before) * 1000) / load.requests;
}
