import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { adminLines, banner, createService } from './bootstrap';
import { loadEnv } from './config/env';
import { ShutdownState } from './health/health.controller';
import { createLogger } from './logging/logger';
import { openDatabase } from './open-database';

/** A stop that takes longer than this, its drain aside, has failed. */
const STOP_MS = 9000;

async function main(): Promise<void> {
  const env = loadEnv();
  const logger = createLogger(env.LOG_LEVEL);
  let app: NestExpressApplication | undefined;

  /** Serves on while load balancers learn of the stop, finishes what is in work, and exits with 0. */
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    // A person who presses Ctrl-C does not wait for load balancers.
    const waitMs = signal === 'SIGINT' ? 0 : env.SHUTDOWN_DRAIN_MS;
    logger.info({ signal, waitMs }, 'stopping');
    setTimeout(() => process.exit(1), waitMs + STOP_MS).unref();
    app?.get(ShutdownState).request();
    if (waitMs > 0) await sleep(waitMs);
    await app?.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ err: error }, 'the stop failed');
        process.exit(1);
      });
    });

  const { dataSource, firstAdmin } = await openDatabase(env, () => {
    logger.warn('waiting for the database');
  });
  try {
    app = await createService({ env, dataSource }, logger);
    await app.listen(env.PORT, env.HOST);
    print(banner(await app.getUrl(), env, firstAdmin));
  } catch (error) {
    // The account exists, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`Tenantry did not start. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
