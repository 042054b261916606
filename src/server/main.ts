import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { loadEnv, type Env } from './config/env';
import { jwtSettings } from './config/jwt-settings';
import { openDatabase } from './open-database';
import { ShutdownState } from './health/health.controller';
import { createLogger } from './logging/logger';
import { adminLines, banner, createService } from './bootstrap';

/** A stop that has not come to its end by then, its drain aside, has failed. */
const STOP_MS = 9000;

async function start(env: Env, logger: Logger): Promise<void> {
  const stopping = stopOnSignal(logger, env.SHUTDOWN_DRAIN_MS);
  const jwt = jwtSettings(env);
  const { dataSource, firstAdmin } = await openDatabase(env, () => {
    logger.warn('waiting for the database');
  });
  try {
    const app = await createService({ env, jwt, dataSource }, logger);
    stopping.request = () => {
      app.get(ShutdownState).request();
    };
    stopping.close = () => app.close();
    await app.listen(env.PORT, env.HOST);
    print(banner(await app.getUrl(), env, firstAdmin));
  } catch (error) {
    // The account is there, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  }
}

/** What a signal does to the service, once there is one. */
interface Stoppable {
  request: () => void;
  close: () => Promise<void>;
}

/**
 * Serves on for a moment while load balancers learn of it, finishes what is in flight and exits with 0, so that process
 * managers see an orderly end. Who presses Ctrl-C does not wait for load balancers.
 */
function stopOnSignal(logger: Logger, drainMs: number): Stoppable {
  const stopping: Stoppable = { request: () => undefined, close: () => Promise.resolve() };
  const stop = (signal: NodeJS.Signals): void => {
    const waitMs = signal === 'SIGINT' ? 0 : drainMs;
    logger.info({ signal, waitMs }, 'stopping');
    setTimeout(() => process.exit(1), waitMs + STOP_MS).unref();
    stopping.request();
    const close = async (): Promise<void> => {
      if (waitMs > 0) await sleep(waitMs);
      await stopping.close();
    };
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the stop failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  return stopping;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(error: unknown): void {
  process.stderr.write(`Tenantry did not start. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function main(): void {
  try {
    const env = loadEnv();
    start(env, createLogger(env.LOG_LEVEL)).catch(fail);
  } catch (error) {
    fail(error);
  }
}

main();
