import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { urlencoded, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { AppModule, type ServiceParts } from './app.module';
import { refuseInOAuthForm } from './auth/oauth.controller';
import { describeDatabase } from '../database/database-url';
import { loadPart } from '../errors/load-part';
import type { Env } from './config/env';
import { version } from './config/version';
import { serveDocs } from './docs/document';
import { refuseInEnvelope, refuseOddRequests } from './odd-requests';
import { requestIdMiddleware } from '../web/request';
import { corsOptions, securityHeaders } from './security-headers';
import { ServiceAdapter } from './service.adapter';
import { ShutdownState } from './health/health.controller';
import { StatusPolicy } from '../web/envelope';
import { AccessLog } from './logging/access-log';
import { NestLogger } from './logging/logger';
import type * as MetricsOfWorkersFile from './metrics/metrics-of-workers';
import type * as ServiceMetricsFile from './metrics/service-metrics';
import { OverloadProtection } from './overload/overload-protection';
import type { FirstAdmin } from './account/first-admin';
import type { Primary } from './workers/primary';

const METRICS_ADDRESS = 'METRICS_HOST, METRICS_PORT';

export async function createService(parts: ServiceParts, logger: Logger): Promise<NestExpressApplication> {
  const metrics = metricsOf(parts.env);
  const whole = { ...parts, ...(metrics && { meter: metrics }) };
  const adapter = new ServiceAdapter(parts.env.MAX_CONNECTIONS);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(whole), adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.set('trust proxy', parts.env.TRUST_PROXY);
  const log = new AccessLog(logger, metrics);
  app.use(requestIdMiddleware, securityHeaders);
  if (parts.env.CORS_ORIGINS.length > 0) app.enableCors(corsOptions(parts.env.CORS_ORIGINS));
  app.use(app.get(OverloadProtection).handle, log.watch, refuseOddRequests);
  if (parts.env.DOCS === 'on') serveDocs(app, version);
  app.use('/auth/token', urlencoded({ extended: false, limit: '16kb' }));
  app.use('/system/dept-api/import', leaveFileUnread);
  app.use('/auth/token', refuseInOAuthForm);
  refuseInEnvelope(app.getHttpServer(), app.get(StatusPolicy), adapter.connections, log.tellUnread);
  app.get(ShutdownState).signal.addEventListener('abort', () => {
    adapter.announceStop();
  });
  if (metrics) await namingSettings(METRICS_ADDRESS, metrics.serve(app, parts.env));
  return app;
}

function metricsOf({ METRICS_PORT }: Env): ServiceMetricsFile.ServiceMetrics | undefined {
  return METRICS_PORT === undefined ? undefined : new (loadMetrics().ServiceMetrics)();
}

/** Answers Prometheus for all workers, where metrics are switched on. */
export async function serveMetricsOf(primary: Primary, env: Env): Promise<void> {
  if (env.METRICS_PORT === undefined) return;
  const { listenForScrapes, MetricsOfWorkers } = loadMetrics();
  await namingSettings(METRICS_ADDRESS, listenForScrapes(env, new MetricsOfWorkers(primary).read));
}

/** Loaded only where metrics are switched on. */
function loadMetrics(): typeof ServiceMetricsFile & typeof MetricsOfWorkersFile {
  return loadPart('METRICS_PORT', ['prom-client'], () => ({
    ...(require('./metrics/service-metrics') as typeof ServiceMetricsFile),
    ...(require('./metrics/metrics-of-workers') as typeof MetricsOfWorkersFile),
  }));
}

/** An import reads its file by itself, once it is known that the caller may send one, and refuses what is none. */
function leaveFileUnread(request: Request, _: Response, next: NextFunction): void {
  if (request.method === 'POST') request.body = null;
  next();
}

/** Tells which settings chose an address on which nothing can listen. */
export function namingSettings<T>(settings: string, listening: Promise<T>): Promise<T> {
  return listening.catch((error: unknown) => {
    throw new Error(`${settings}: ${(error as Error).message}`, { cause: error });
  });
}

/** What a start has come to. */
export interface Start {
  readonly env: Env;
  readonly address: string;
  readonly firstAdmin: FirstAdmin | null;
  /** Names of those that ran. */
  readonly migrations: readonly string[];
}

/** For collectors of the log. */
export function startFields({ env, address, migrations }: Start): object {
  const metrics = metricsAddress(env);
  const database = describeDatabase(env.DATABASE_URL);
  const workers = env.WORKERS > 1 && { workers: env.WORKERS };
  return { version, address, ...workers, ...(metrics && { metrics }), database, migrations };
}

/** For people. */
export function banner({ env, address, firstAdmin, migrations }: Start): string {
  const metrics = metricsAddress(env);
  return [
    `Tenantry ${version}`,
    line('API', address),
    ...(env.WORKERS > 1 ? [line('Workers', String(env.WORKERS))] : []),
    line('Swagger UI', env.DOCS === 'on' ? `${address}/docs` : 'off (DOCS=on opens it)'),
    ...(metrics ? [line('Metrics', metrics)] : []),
    line('Database', describeDatabase(env.DATABASE_URL)),
    ...(migrations.length > 0 ? [line('Migrations', `${migrations.length} have run`)] : []),
    ...adminLines(firstAdmin),
  ].join('\n');
}

function metricsAddress({ METRICS_HOST, METRICS_PORT }: Env): string | undefined {
  return METRICS_PORT === undefined ? undefined : `http://${METRICS_HOST}:${METRICS_PORT}/metrics`;
}

/** The first account, if its password was made here; it is shown only once. */
export function adminLines(firstAdmin: FirstAdmin | null): string[] {
  if (!firstAdmin?.password) return [];
  return [line('Admin', `${firstAdmin.username} / ${firstAdmin.password} (shown only this once)`)];
}

function line(name: string, value: string): string {
  return `  ${name.padEnd(11)}${value}`;
}
