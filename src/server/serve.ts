import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { describeDatabase } from '../database/database-url';
import { adminLines, banner, createService, namingSettings, startFields } from './bootstrap';
import { loadEnv, type Env } from './config/env';
import { readEnvironment } from './config/environment';
import { version } from './config/version';
import { ShutdownState } from './health/health.controller';
import { createLogger } from './logging/logger';
import { openDatabase } from './open-database';

/** A stop that takes longer than this, its drain aside, has failed. */
const STOP_MS = 9000;

/** Runs the service until a signal stops it; gives the exit code. */
export async function serve(): Promise<number> {
  let app: NestExpressApplication | undefined;
  let isCollected = false;
  try {
    // In production all of standard output is for a collector of JSON lines, unless a person is watching.
    isCollected = readEnvironment().NODE_ENV === 'production' && !process.stdout.isTTY;
    const env = loadEnv();
    const logger = createLogger(env.LOG_LEVEL);
    const stopped = untilStopped(env, logger, () => app);
    const start = async (): Promise<number> => {
      app = await startService(env, logger, isCollected);
      return stopped;
    };
    return await Promise.race([stopped, start()]);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (isCollected) createLogger('fatal').fatal({ version, problem }, 'did not start');
    else process.stderr.write(`Tenantry did not start. ${problem}\n`);
    return 1;
  }
}

async function startService(env: Env, logger: Logger, isCollected: boolean): Promise<NestExpressApplication> {
  const { dataSource, firstAdmin, migrations } = await openDatabase(env, () => {
    logger.warn({ database: describeDatabase(env.DATABASE_URL) }, 'waiting for the database');
  });
  try {
    const app = await createService({ env, dataSource }, logger);
    await namingSettings('HOST, PORT', app.listen(env.PORT, env.HOST));
    const start = { env, address: await app.getUrl(), firstAdmin, migrations };
    if (isCollected) ofLife(logger).info(startFields(start), 'started');
    else print(banner(start));
    return app;
  } catch (error) {
    // The account exists, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  }
}

/** On a signal: serves on while load balancers learn of the stop, then finishes what is in work. Gives 0, or 1 when that failed. */
function untilStopped(
  { SHUTDOWN_DRAIN_MS }: Env,
  logger: Logger,
  running: () => NestExpressApplication | undefined,
): Promise<number> {
  const stop = async (signal: NodeJS.Signals): Promise<number> => {
    // A person who presses Ctrl-C does not wait for load balancers.
    const waitMs = signal === 'SIGINT' ? 0 : SHUTDOWN_DRAIN_MS;
    ofLife(logger).info({ signal, waitMs }, 'stopping');
    setTimeout(() => {
      logger.error('the stop took too long');
      process.exit(1);
    }, waitMs + STOP_MS).unref();
    running()?.get(ShutdownState).request();
    if (waitMs > 0) await sleep(waitMs);
    await running()?.close();
    ofLife(logger).info('stopped');
    return 0;
  };
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        // The first that is done counts: a person may cut the drain short.
        void stop(signal)
          .catch((error: unknown) => {
            logger.error({ err: error }, 'the stop failed');
            return 1;
          })
          .then(resolve);
      });
  });
}

/** Starts and stops are told at every level of the log. */
function ofLife(logger: Logger): Logger {
  return logger.child({}, { level: 'info' });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
