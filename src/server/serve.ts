import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { describeDatabase } from '../database/database-url';
import { adminLines, banner, createService, namingSettings, serveMetricsOf, startFields } from './bootstrap';
import { loadEnv, type Env } from './config/env';
import { readEnvironment } from './config/environment';
import { version } from './config/version';
import { ShutdownState } from './health/health.controller';
import { createLogger } from './logging/logger';
import { openDatabase, openPrepared, type OpenDatabase } from './open-database';
import { countForWorkers } from './rate-limit/rate-limits';
import { Primary } from './workers/primary';
import { shareOf } from './workers/shared-limits';
import { onPrimary, tellPrimary, workerNumber } from './workers/worker';

/** A stop that takes longer than this, its drain aside, has failed. */
const STOP_MS = 9000;
/** How much longer a primary waits for those of its workers that it has killed. */
const KILL_MS = 1000;

/** Runs the service until a signal stops it; gives the exit code. */
export async function serve(): Promise<number> {
  let isCollected = false;
  try {
    // In production all of standard output is for a collector of JSON lines, unless a person is watching.
    isCollected = readEnvironment().NODE_ENV === 'production' && !process.stdout.isTTY;
    const env = loadEnv();
    const logger = createLogger(env.LOG_LEVEL);
    const worker = workerNumber(env);
    if (worker !== undefined) return await serveAsWorker(env, logger.child({ worker }));
    return await (env.WORKERS > 1 ? serveByWorkers : serveAlone)(env, logger, isCollected);
  } catch (error) {
    const problem = problemOf(error);
    if (isCollected) createLogger('fatal').fatal({ version, problem }, 'did not start');
    else process.stderr.write(`Tenantry did not start. ${problem}\n`);
    // A worker that cannot read its settings does not know that it is one.
    if (cluster.isWorker) await tellPrimary('failed', problem);
    return 1;
  }
}

/** One process does everything. */
function serveAlone(env: Env, logger: Logger, isCollected: boolean): Promise<number> {
  let app: NestExpressApplication | undefined;
  const stop = untilStopped(onSignal, STOP_MS, env, logger, (waitMs) => drain(app, waitMs));
  return untilEither(stop, async () => {
    const database = await openPatiently(env, logger);
    await tellStart(env, logger, isCollected, database, async () => {
      app = await createService({ env, dataSource: database.dataSource }, logger);
      return listen(app, env);
    });
  });
}

/** This process prepares the database once, and keeps workers that serve. */
function serveByWorkers(env: Env, logger: Logger, isCollected: boolean): Promise<number> {
  const primary = new Primary(env.WORKERS, logger);
  const stop = untilStopped(onSignal, STOP_MS + KILL_MS, env, logger, (waitMs, signal) =>
    primary.stop(signal, waitMs + STOP_MS),
  );
  return untilEither(stop, async () => {
    const database = await openPatiently(env, logger);
    await tellStart(env, logger, isCollected, database, async () => {
      await database.dataSource.destroy();
      countForWorkers();
      await serveMetricsOf(primary, env);
      return primary.start();
    });
  });
}

/** Signals reach a whole group of processes as a rule: a worker leaves them to its primary. */
async function serveAsWorker(env: Env, logger: Logger): Promise<number> {
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  const share = shareOf(env);
  let app: NestExpressApplication | undefined;
  const onStop = (hear: (signal: NodeJS.Signals) => void) => {
    onPrimary('stop', hear);
  };
  const stop = untilStopped(onStop, STOP_MS, env, logger, (waitMs) => drain(app, waitMs));
  try {
    return await untilEither(stop, async () => {
      const dataSource = await openPrepared(share.DATABASE_URL);
      app = await createService({ env: share, dataSource }, logger);
      await tellPrimary('started', await listen(app, env));
    });
  } catch (error) {
    await tellPrimary('failed', problemOf(error));
    return 1;
  }
}

function openPatiently(env: Env, logger: Logger): Promise<OpenDatabase> {
  return openDatabase(env, () => {
    logger.warn({ database: describeDatabase(env.DATABASE_URL) }, 'waiting for the database');
  });
}

async function listen(app: NestExpressApplication, { PORT, HOST }: Env): Promise<string> {
  await namingSettings('HOST, PORT', app.listen(PORT, HOST));
  return app.getUrl();
}

/** Starts, and tells people or a collector of the address that it gives. */
async function tellStart(
  env: Env,
  logger: Logger,
  isCollected: boolean,
  { firstAdmin, migrations }: OpenDatabase,
  start: () => Promise<string>,
): Promise<void> {
  // The account exists. Where the start fails or is stopped, this is the only chance to learn its password.
  const tellAdmin = (): void => {
    adminLines(firstAdmin).forEach(print);
  };
  process.once('exit', tellAdmin);
  try {
    const started = { env, address: await start(), firstAdmin, migrations };
    if (isCollected) ofLife(logger).info(startFields(started), 'started');
    else print(banner(started));
  } catch (error) {
    tellAdmin();
    throw error;
  } finally {
    process.off('exit', tellAdmin);
  }
}

/** Serves on while load balancers learn of the stop, then finishes what is in work. */
async function drain(app: NestExpressApplication | undefined, waitMs: number): Promise<boolean> {
  // It was still starting: nobody has been served, and nobody shall be.
  if (!app) return true;
  app.get(ShutdownState).request();
  if (waitMs > 0) await sleep(waitMs);
  await app.close();
  return true;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Calls `hear` with each request to stop. */
type OnStop = (hear: (signal: NodeJS.Signals) => void) => void;

const onSignal: OnStop = (hear) => {
  for (const signal of SIGNALS) process.once(signal, hear);
  // Supervisors may repeat theirs. A person who presses Ctrl-C twice wants the end at once.
  process.on('SIGTERM', () => undefined);
};

/** Also while it starts. What fails then because it is being stopped does not count. */
function untilEither({ code, isAsked }: Stop, start: () => Promise<void>): Promise<number> {
  const started = start().catch((error: unknown) => {
    if (!isAsked()) throw error;
  });
  return Promise.race([code, started.then(() => code)]);
}

/** How a service is told to stop, and how that ends. */
interface Stop {
  readonly code: Promise<number>;
  readonly isAsked: () => boolean;
}

/** Stops when it is told to. Gives 0, or 1 when that failed. */
function untilStopped(
  onStop: OnStop,
  patienceMs: number,
  env: Env,
  logger: Logger,
  work: (waitMs: number, signal: NodeJS.Signals) => Promise<boolean>,
): Stop {
  const { SHUTDOWN_DRAIN_MS } = env;
  let isAsked = false;
  // The primary tells of all workers.
  const told = workerNumber(env) === undefined ? ofLife(logger) : logger.child({}, { level: 'silent' });
  const stop = async (signal: NodeJS.Signals): Promise<number> => {
    // A person who presses Ctrl-C does not wait for load balancers.
    const waitMs = signal === 'SIGINT' ? 0 : SHUTDOWN_DRAIN_MS;
    told.info({ signal, waitMs }, 'stopping');
    setTimeout(() => {
      logger.error('the stop took too long');
      process.exit(1);
    }, waitMs + patienceMs).unref();
    const isWell = await work(waitMs, signal);
    told.info('stopped');
    return isWell ? 0 : 1;
  };
  const code = new Promise<number>((resolve) => {
    onStop((signal) => {
      isAsked = true;
      // The first that is done counts: a person may cut the drain short.
      void stop(signal)
        .catch((error: unknown) => {
          logger.error({ err: error }, 'the stop failed');
          return 1;
        })
        .then(resolve);
    });
  });
  return { code, isAsked: () => isAsked };
}

/** Starts and stops are told at every level of the log. */
function ofLife(logger: Logger): Logger {
  return logger.child({}, { level: 'info' });
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
