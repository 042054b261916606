import 'reflect-metadata';
import type { Logger } from 'pino';
import { loadEnv, type Env } from './config/env';
import { jwtKey } from './config/jwt-secret';
import { createLogger } from './logging/logger';
import { banner, createService, openDatabase } from './service';

/** How long requests in flight may take to finish after a signal. */
const SHUTDOWN_MS = 10_000;

async function start(env: Env, logger: Logger): Promise<void> {
  const jwt = { key: jwtKey(env), issuer: env.JWT_ISSUER, audience: env.JWT_AUDIENCE };
  const { dataSource, firstAdmin } = await openDatabase(env);
  const app = await createService({ env, jwt, dataSource }, logger);
  stopOnSignal(() => app.close(), logger);
  await app.listen(env.PORT, env.HOST);
  process.stdout.write(`${banner(await app.getUrl(), env, firstAdmin)}\n`);
}

/** Finishes what is in flight and exits with 0, so that process managers see an orderly end. */
function stopOnSignal(close: () => Promise<void>, logger: Logger): void {
  const stop = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the stop failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

function main(): void {
  try {
    const env = loadEnv();
    start(env, createLogger(env.LOG_LEVEL)).catch(fail);
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  process.stderr.write(`Tenantry did not start. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main();
