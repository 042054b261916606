import type { INestApplication } from '@nestjs/common';
import { PasswordHasher } from '../auth/password-hasher';
import type { Env } from '../config/env';
import { version } from '../config/version';
import { dialectOf, type PoolState } from '../../database/dialect';
import { TenantryDataSource } from '../../database/tenantry.data-source';
import { OverloadProtection } from '../overload/overload-protection';
import { serveMetrics } from './metrics-server';
import { ProcessMetrics } from './process-metrics';
import { Observed, type Family } from './registry';
import { RequestMetrics } from './request-metrics';
import { UnitMetrics } from './unit-metrics';

/** All that the service counts; made only where somebody wants to read it. */
export class ServiceMetrics {
  readonly requests = new RequestMetrics();
  readonly units = new UnitMetrics();

  /** Opens the place where it is read, until the service closes. */
  async serve(app: INestApplication, { METRICS_PORT, METRICS_HOST }: Env): Promise<void> {
    const dataSource = app.get(TenantryDataSource);
    const runtime = new ProcessMetrics();
    const families = [
      build(),
      ...this.requests.families,
      ...this.units.families,
      ...pool(() => dialectOf(dataSource).poolState(dataSource)),
      logins(app.get(PasswordHasher)),
      ...overload(app.get(OverloadProtection)),
      ...runtime.families,
    ];
    const text = (): string => `${families.map((family) => family.text()).join('\n')}\n`;
    const close = await serveMetrics(text, METRICS_PORT ?? 0, METRICS_HOST);
    (app.getHttpServer() as NodeJS.EventEmitter).once('close', () => {
      close();
      runtime.close();
    });
  }
}

function build(): Family {
  return new Observed('tenantry_build_info', 'Always 1; the labels tell.', 'gauge', () => [
    [{ version, node: process.version }, 1],
  ]);
}

/** Of MySQL the pool; of SQLite, which has one connection that writes, the queue before it. */
function pool(read: () => PoolState): Family[] {
  const gauge = (name: string, help: string, value: (state: PoolState) => number): Family =>
    new Observed(name, help, 'gauge', () => [[{}, value(read())]]);
  return [
    gauge('tenantry_database_connections_limit', 'How many connections there may be.', ({ limit }) => limit),
    new Observed('tenantry_database_connections', 'Connections that are open.', 'gauge', () => {
      const { used, idle } = read();
      return [
        [{ state: 'used' }, used],
        [{ state: 'idle' }, idle],
      ];
    }),
    gauge('tenantry_database_waiting', 'Who waits for a connection.', ({ waiting }) => waiting),
  ];
}

function logins(hasher: PasswordHasher): Family {
  return new Observed(
    'tenantry_password_checks',
    'Passwords that are being hashed, or wait for it.',
    'gauge',
    () => [
      [{ state: 'running' }, hasher.running],
      [{ state: 'waiting' }, hasher.waiting],
    ],
  );
}

/** Requests that are refused here are in no other count. */
function overload(protection: OverloadProtection): Family[] {
  return [
    new Observed('tenantry_admission', 'Requests that are in work, or wait for a place.', 'gauge', () => [
      [{ state: 'in work' }, protection.counts.inWork],
      [{ state: 'waiting' }, protection.counts.waiting],
    ]),
    new Observed(
      'tenantry_admission_refused_total',
      'Requests that there was no room for (503 OVERLOADED).',
      'counter',
      () => [[{}, protection.counts.refused]],
    ),
  ];
}
