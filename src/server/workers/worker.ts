import cluster from 'node:cluster';
import type { Env } from '../config/env';

/** What a worker tells its primary, by topic. */
export interface ToPrimary {
  /** It serves at this address. */
  readonly started: string;
  /** Why it could not start. */
  readonly failed: string;
  /** What the other workers must look up anew. */
  readonly revoked: string;
  /** All that it has counted, as prom-client tells it. */
  readonly metrics: object[];
}

/** What a primary tells its workers, by topic. */
export interface ToWorker {
  readonly stop: NodeJS.Signals;
  readonly revoked: string;
  readonly metrics: null;
}

/** Packages send messages of their own between the same processes. */
export interface Message<Topics, T extends keyof Topics = keyof Topics> {
  readonly tenantry: T;
  readonly body: Topics[T];
}

/** The number of this worker, which no other one gets; undefined in a process that is none. */
export function workerNumber({ WORKERS }: Pick<Env, 'WORKERS'>): number | undefined {
  return WORKERS > 1 ? cluster.worker?.id : undefined;
}

/** Resolves when it is sent. A primary that is gone needs no message: its workers end with it. */
export function tellPrimary<T extends keyof ToPrimary>(tenantry: T, body: ToPrimary[T]): Promise<void> {
  return new Promise((resolve) => {
    process.send?.({ tenantry, body }, undefined, undefined, () => {
      resolve();
    });
  });
}

export function onPrimary<T extends keyof ToWorker>(topic: T, hear: (body: ToWorker[T]) => void): void {
  process.on('message', ({ tenantry, body }: Message<ToWorker>) => {
    if (tenantry === topic) hear(body as ToWorker[T]);
  });
}
