import type { Outcome } from '../../web/request';
import type { RequestMeter } from '../logging/access-log';
import { Counter, Histogram, Observed, type Family } from './registry';

/** Where there is no route, or it was not reached. */
const NO_ROUTE = 'none';

interface Series {
  readonly requests: { value: number };
  readonly durations: { observe(seconds: number): void };
}

/** Counts requests: by the route's template, never by its address, and by nothing that tells tenants or users apart. */
export class RequestMetrics implements RequestMeter {
  #inFlight = 0;
  readonly #known = new Map<string, Series>();
  readonly #requests = new Counter(
    'tenantry_http_requests_total',
    'Requests that are over, by route, status and reason of the refusal.',
  );
  readonly #durations = new Histogram(
    'tenantry_http_request_duration_seconds',
    'From the head of the request to the end of the answer.',
  );

  readonly families: readonly Family[] = [
    this.#requests,
    this.#durations,
    new Observed('tenantry_http_requests_in_flight', 'Requests that are not over.', 'gauge', () => [
      [{}, this.#inFlight],
    ]),
  ];

  began(): void {
    this.#inFlight += 1;
  }

  ended(method: string, route: string | undefined, outcome: Outcome, ms: number): void {
    this.#inFlight -= 1;
    const series = this.#seriesOf(method, route, outcome);
    series.requests.value += 1;
    series.durations.observe(ms / 1000);
  }

  unread({ status, reason = '' }: Outcome): void {
    this.#requests.with({ method: '', route: NO_ROUTE, status, reason }).value += 1;
  }

  #seriesOf(method: string, route = NO_ROUTE, { status, reason = '' }: Outcome): Series {
    const key = `${method} ${route} ${status} ${reason}`;
    const known = this.#known.get(key);
    if (known) return known;
    const series = {
      requests: this.#requests.with({ method, route, status, reason }),
      durations: this.#durations.with({ method, route }),
    };
    this.#known.set(key, series);
    return series;
  }
}
