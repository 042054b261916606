import 'reflect-metadata';
import type { Logger } from 'pino';
import { loadEnv, type Env } from './config/env';
import { jwtSettings } from './config/jwt-settings';
import { openDatabase } from './database/open-database';
import { createLogger } from './logging/logger';
import { adminLines, banner, createService } from './service';

/** A stop that has not come to its end by then has failed. */
const STOP_MS = 10_000;

async function start(env: Env, logger: Logger): Promise<void> {
  const stopping = stopOnSignal(logger);
  const jwt = jwtSettings(env);
  const { dataSource, firstAdmin } = await openDatabase(env, () => {
    logger.warn('waiting for the database');
  });
  try {
    const app = await createService({ env, jwt, dataSource }, logger);
    stopping.close = () => app.close();
    await app.listen(env.PORT, env.HOST);
    print(banner(await app.getUrl(), env, firstAdmin));
  } catch (error) {
    // The account is there, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  }
}

/** Finishes what is in flight and exits with 0, so that process managers see an orderly end. */
function stopOnSignal(logger: Logger): { close: () => Promise<void> } {
  const stopping = { close: () => Promise.resolve() };
  const stop = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_MS).unref();
    stopping.close().then(
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
