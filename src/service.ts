import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { AppModule, type ServiceParts } from './app.module';
import { describeDatabase } from './config/database-url';
import type { Env } from './config/env';
import { createDataSource } from './database/data-source';
import { exclusively } from './database/migrate';
import { serveDocs } from './docs/swagger';
import { closeGracefully } from './http/graceful-close';
import { jsonBody } from './http/json-body';
import { refuseInEnvelope } from './http/raw-refusals';
import { refuseOptions } from './http/refuse-options';
import { requestIdMiddleware } from './http/request-id';
import { StatusPolicy } from './http/status-policy';
import { accessLog } from './logging/access-log';
import { NestLogger } from './logging/nest-logger';
import { ensureFirstAdmin, type FirstAdmin } from './user/first-admin';

const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};

/** Opens the database and brings it up to date; replicas that start together take turns. */
export async function openDatabase(
  env: Env,
): Promise<{ dataSource: DataSource; firstAdmin: FirstAdmin | null }> {
  const dataSource = await createDataSource(env.DATABASE_URL);
  await dataSource.initialize();
  try {
    const firstAdmin = await exclusively(dataSource, async () => {
      await dataSource.runMigrations();
      return ensureFirstAdmin(dataSource, {
        password: env.ADMIN_PASSWORD,
        passwordRequired: env.NODE_ENV === 'production',
      });
    });
    return { dataSource, firstAdmin };
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** The service, ready to listen. */
export async function createService(parts: ServiceParts, logger: Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(parts), {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.disable('x-powered-by').disable('etag');
  app.set('query parser', 'simple');
  app.use(requestIdMiddleware, accessLog(logger), refuseOptions);
  if (parts.env.DOCS === 'on') serveDocs(app, version);
  app.use(...jsonBody);
  refuseInEnvelope(app.getHttpServer(), app.get(StatusPolicy));
  closeGracefully(app.getHttpServer());
  return app;
}

/** The lines a person sees when the service has started. */
export function banner(address: string, env: Env, firstAdmin: FirstAdmin | null): string {
  const lines = [
    ['API', address],
    ['Swagger UI', env.DOCS === 'on' ? `${address}/docs` : 'off (DOCS=on opens it)'],
    ['Database', describeDatabase(env.DATABASE_URL)],
    ...(firstAdmin?.password
      ? [['Admin', `${firstAdmin.username} / ${firstAdmin.password} (shown only this once)`]]
      : []),
  ];
  return [
    `Tenantry ${version}`,
    ...lines.map(([name = '', value]) => `  ${name.padEnd(11)}${value ?? ''}`),
  ].join('\n');
}
