import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Meter, type UnitFault } from '../../database/meter';
import { TenantryDataSource } from '../../database/tenantry.data-source';
import { CONTRACT_QUOTAS } from '../../tenant/quota/quota-kinds';
import { NO_ROUTE, type Outcome } from '../../web/request';
import { PasswordHasher } from '../auth/password-hasher';
import { SIGN_IN_OUTCOMES, type SignInNote } from '../auth/sign-in-note';
import type { Env } from '../config/env';
import { version } from '../config/version';
import { isProbe } from '../health/health.controller';
import type { PoolState } from '../../database/dialect';
import { dialectOf } from '../../database/dialects';
import { OverloadProtection } from '../overload/overload-protection';
import { onPrimary, tellPrimary, workerNumber } from '../workers/worker';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FAULTS: readonly UnitFault[] = ['conflict', 'busy', 'unreachable', 'lost', 'crowded'];

/** Everything that the service counts. Requests are told apart by the template of their route, never by tenant or user. */
export class ServiceMetrics extends Meter {
  /** One for each service: tests run several in one process. */
  readonly #registry = new Registry();
  readonly #to = { registers: [this.#registry] };
  readonly #requests = new Counter({
    name: 'tenantry_http_requests_total',
    help: 'Requests that are over, by route, status and reason of the refusal.',
    labelNames: ['method', 'route', 'status', 'reason'],
    ...this.#to,
  });
  readonly #durations = new Histogram({
    name: 'tenantry_http_request_duration_seconds',
    help: 'From the head of the request to the end of the answer, without waiting for changes and for webhooks.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    ...this.#to,
  });
  readonly #probes = new Counter({
    name: 'tenantry_http_probes_total',
    help: 'Probes of process managers and load balancers. They are in no other count.',
    labelNames: ['route', 'status'],
    ...this.#to,
  });
  readonly #waits = new Histogram({
    name: 'tenantry_unit_wait_seconds',
    help: 'How long units of work waited for others of their tenant; its count is that of the units.',
    buckets: BUCKETS,
    ...this.#to,
  });
  readonly #retries = this.#counter('tenantry_unit_retries_total', 'Tries made again, by fault.', 'fault');
  readonly #givenUp = this.#counter('tenantry_unit_given_up_total', 'Units that ended in a 503.', 'cause');
  readonly #removed = this.#counter('tenantry_cleanup_removed_rows_total', 'Expired rows removed.', 'table');
  readonly #failures = this.#counter('tenantry_cleanup_failures_total', 'Cleanups that failed.', 'table');
  readonly #sent = this.#counter('tenantry_webhook_messages_total', 'Sent to webhooks.', 'outcome');
  readonly #quotaRefusals = this.#counter('tenantry_quota_refusals_total', 'More than is available.', 'kind');
  readonly #signIns = new Counter({
    name: 'tenantry_sign_ins_total',
    help: 'Sign-ins, refreshes and sign-outs, by what became of them.',
    labelNames: ['kind', 'outcome'],
    ...this.#to,
  });
  #inFlight = 0;

  constructor() {
    super();
    // From the start, so that the first of its kind is an increase.
    for (const fault of FAULTS) this.#retries.inc({ fault }, 0);
    for (const cause of [...FAULTS, 'queue']) this.#givenUp.inc({ cause }, 0);
    for (const outcome of ['delivered', 'failed']) this.#sent.inc({ outcome }, 0);
    for (const kind of CONTRACT_QUOTAS) this.#quotaRefusals.inc({ kind }, 0);
    for (const [kind, outcomes] of Object.entries(SIGN_IN_OUTCOMES))
      for (const outcome of outcomes) this.#signIns.inc({ kind, outcome }, 0);
  }

  began(): void {
    this.#inFlight += 1;
  }

  ended(method: string, route: string, { status, reason = '' }: Outcome, ms: number): void {
    this.#inFlight -= 1;
    if (isProbe(route)) {
      this.#probes.inc({ route, status });
      return;
    }
    this.#requests.inc({ method, route, status, reason });
    this.#durations.observe({ method, route }, ms / 1000);
  }

  unread({ status, reason = '' }: Outcome): void {
    this.#requests.inc({ method: '', route: NO_ROUTE, status, reason });
  }

  signedIn({ kind, outcome }: SignInNote): void {
    if (outcome !== undefined) this.#signIns.inc({ kind, outcome });
  }

  override unitBegan(waitedMs: number): void {
    this.#waits.observe(waitedMs / 1000);
  }

  override unitRetried(fault: UnitFault): void {
    this.#retries.inc({ fault });
  }

  override unitGaveUp(cause: UnitFault | 'queue'): void {
    this.#givenUp.inc({ cause });
  }

  override rowsRemoved(table: string, count: number): void {
    this.#removed.inc({ table }, count);
    this.#failures.inc({ table }, 0);
  }

  override cleanupFailed(table: string): void {
    this.#failures.inc({ table });
  }

  override webhookSent(outcome: 'delivered' | 'failed'): void {
    this.#sent.inc({ outcome });
  }

  override quotaRefused(kind: string): void {
    this.#quotaRefusals.inc({ kind });
  }

  /** Answers Prometheus, or the primary that asks for it. */
  async serve(app: INestApplication, env: Env): Promise<void> {
    this.#observe(app);
    collectDefaultMetrics({ register: this.#registry });
    if (workerNumber(env) !== undefined) {
      onPrimary('metrics', () => {
        void this.#registry.getMetricsAsJSON().then((metrics) => tellPrimary('metrics', metrics));
      });
      return;
    }
    const server = await listenForScrapes(env, () => this.#registry.metrics());
    (app.getHttpServer() as NodeJS.EventEmitter).once('close', () => {
      server.close().closeAllConnections();
    });
  }

  /** What is asked for only when it is read. */
  #observe(app: INestApplication): void {
    const labelNames = ['version', 'node'];
    new Gauge({
      name: 'tenantry_build_info',
      help: 'Always 1; the labels tell.',
      labelNames,
      aggregator: 'first',
      ...this.#to,
    })
      .labels(version, process.version)
      .set(1);
    this.#gauge('tenantry_workers', 'Processes that serve requests.', () => 1);
    this.#gauge('tenantry_http_requests_in_flight', 'Requests that are not over.', () => this.#inFlight);
    // SQLite has one connection that writes; then this is the queue in front of it.
    const dataSource = app.get(TenantryDataSource);
    const pool = (): PoolState => dialectOf(dataSource).poolState(dataSource);
    this.#gauge('tenantry_database_connections_limit', 'Connections allowed.', () => pool().limit);
    this.#gauge('tenantry_database_connections', 'Connections that are open.', () => {
      const { used, idle } = pool();
      return { used, idle };
    });
    this.#gauge('tenantry_database_waiting', 'Requests waiting for a connection.', () => pool().waiting);
    const hasher = app.get(PasswordHasher);
    this.#gauge('tenantry_password_checks', 'Passwords that are being hashed, or wait for it.', () => ({
      running: hasher.counts.inWork,
      waiting: hasher.counts.waiting,
    }));
    const overload = app.get(OverloadProtection);
    this.#gauge('tenantry_admission', 'Requests that are in work, or wait for a place.', () => ({
      'in work': overload.counts.inWork,
      waiting: overload.counts.waiting,
    }));
    // Requests that are refused here are in no other count.
    new Counter({
      name: 'tenantry_admission_refused_total',
      help: 'Requests that there was no room for (503 OVERLOADED).',
      ...this.#to,
      collect() {
        this.reset();
        this.inc(overload.counts.refused);
      },
    });
  }

  #counter<T extends string>(name: string, help: string, label: T): Counter<T> {
    return new Counter({ name, help, labelNames: [label], ...this.#to });
  }

  /** A number, or one for each state. */
  #gauge(name: string, help: string, read: () => number | Record<string, number>): void {
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      ...this.#to,
      collect() {
        const value = read();
        if (typeof value === 'number') this.set(value);
        else for (const [state, part] of Object.entries(value)) this.set({ state }, part);
      },
    });
  }
}

/** Opens a listener of its own for Prometheus, so that clients of the API cannot reach it. */
export async function listenForScrapes(
  { METRICS_PORT, METRICS_HOST }: Env,
  read: () => Promise<string>,
): Promise<Server> {
  const answer = async ({ method = '', url }: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('X-Content-Type-Options', 'nosniff').setHeader('Cache-Control', 'no-store');
    if (url?.split('?', 1)[0] !== '/metrics' || !['GET', 'HEAD'].includes(method)) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end('Only GET /metrics is here.\n');
      return;
    }
    const text = await read();
    response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(METRICS_PORT, METRICS_HOST).unref(), 'listening');
  return server;
}
