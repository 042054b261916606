import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only bounds a hang. */
const START_MS = 100_000;
const POLL_MS = 50;

/** A real server on loopback, for this test run only. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  /** Ends it in order, and removes its files. */
  stop(): Promise<void>;
  /** Resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when it answers. */
  restart(): Promise<void>;
}

export interface ServerProgram {
  readonly url: string;
  readonly port: number;
  readonly spawn: () => ChildProcess;
  /** Fails while it does not answer. */
  readonly ask: () => Promise<unknown>;
  readonly remove: () => void;
  /** For an orderly end; SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals;
  /** What must end before it can be started again, known while it runs. */
  readonly whatEndsLater?: (server: ChildProcess) => () => boolean;
}

export async function runServer(program: ServerProgram): Promise<ServerProcess> {
  const { url, port, remove, stopSignal = 'SIGTERM', whatEndsLater } = program;
  const start = async (): Promise<ChildProcess> => {
    const started = program.spawn();
    const giveUp = Date.now() + START_MS;
    for (;;) {
      try {
        await program.ask();
        return started;
      } catch (error) {
        if (started.exitCode !== null || Date.now() > giveUp) throw error;
        await sleep(POLL_MS);
      }
    }
  };
  let server = await start();
  // Whatever ends the test run ends the server.
  process.once('exit', () => server.kill(stopSignal === 'SIGINT' ? 'SIGQUIT' : 'SIGKILL'));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const hasEnded = whatEndsLater?.(server);
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
    while (hasEnded?.() === false) await sleep(POLL_MS);
  };
  const stop = async (): Promise<void> => {
    await end(stopSignal);
    remove();
  };
  const restart = async (): Promise<void> => {
    server = await start();
  };
  return { url, port, stop, end, restart };
}
