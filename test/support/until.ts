import { setTimeout as sleep } from 'node:timers/promises';

/** Only bounds a hang: longer than any busy machine takes, shorter than Jest waits for a test. */
const GIVE_UP_MS = 60_000;
const POLL_MS = 5;

/** Waits for a state. Tests wait for what they need to see, never for a time. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const giveUp = Date.now() + GIVE_UP_MS;
  while (!(await isTrue())) {
    if (Date.now() > giveUp) throw new Error(`Not true within ${GIVE_UP_MS} ms: ${isTrue.toString()}`);
    await sleep(POLL_MS);
  }
}

/** Waits for a state while time passes by this clock; little by little, because what fails is noted a moment later. */
export function untilLater(
  clock: { pass(milliseconds: number): void },
  stepMs: number,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  return until(() => {
    clock.pass(stepMs);
    return isTrue();
  });
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** A promise that a test settles itself; Node 20 has no Promise.withResolvers. */
export function deferred<T = void>(): Deferred<T> {
  let settle: Omit<Deferred<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...settle! };
}
