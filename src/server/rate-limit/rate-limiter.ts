import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '../../tenancy/principal';
import { RateCounter, type Count } from './rate-counter';

/** How many requests a minute; null turns limits off. */
export abstract class RateLimits {
  abstract readonly perMinute: {
    readonly loginsOfAddress: number;
    readonly loginsOfAccount: number;
    readonly requestsOfUser: number;
  } | null;
}

export interface Limit {
  readonly key: string;
  readonly most: number;
}

const WINDOW_MS = 60_000;
const admitted = Symbol('admitted');
type Counted = Request & { [admitted]?: boolean };

/** Counts requests and tells callers where they stand. */
@Injectable()
export class RateLimiter {
  constructor(
    private readonly counter: RateCounter,
    private readonly limits: RateLimits,
  ) {}

  /** Whether a caller may go on; asked twice about the same request, it counts once. At once, if this process counts alone. */
  admitsCaller(request: Counted, response: Response): boolean | Promise<boolean> {
    const principal = request.user as Principal | undefined;
    const { perMinute } = this.limits;
    if (!perMinute || !principal) return true;
    if (request[admitted] !== undefined) return request[admitted];
    const key = `user:${principal.tenantId}|${principal.subject}`;
    const decide = (count: Count): boolean =>
      (request[admitted] = tell(response, perMinute.requestsOfUser, count));
    const count = this.counter.hit(key, WINDOW_MS);
    return count instanceof Promise ? count.then(decide) : decide(count);
  }

  /** Whether all of these limits leave room for a request; what comes after one that does not is not counted. */
  async admits(limits: readonly Limit[], response: Response): Promise<boolean> {
    let tightest: { readonly most: number; readonly count: Count } | undefined;
    for (const { key, most } of limits) {
      const count = await this.counter.hit(key, WINDOW_MS);
      if (!tightest || most - count.hits < tightest.most - tightest.count.hits) tightest = { most, count };
      if (count.hits > most) break;
    }
    return !tightest || tell(response, tightest.most, tightest.count);
  }
}

/** Tells the caller where it stands; gives whether it may go on. */
function tell(response: Response, most: number, { hits, endsIn }: Count): boolean {
  const reset = Math.ceil(endsIn / 1000);
  response.setHeader('RateLimit-Limit', String(most));
  response.setHeader('RateLimit-Remaining', String(Math.max(most - hits, 0)));
  response.setHeader('RateLimit-Reset', String(reset));
  if (hits <= most) return true;
  response.setHeader('Retry-After', String(Math.max(reset, 1)));
  return false;
}
