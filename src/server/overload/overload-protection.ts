import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { VerifiedTokens } from '../auth/verified-tokens';
import { clientNetwork, languageOf, requestIdOf } from '../../web/request';
import { failure, StatusPolicy } from '../../web/envelope';
import { HttpErrors } from '../../errors/http.errors';
import { hasBody } from '../../web/json-body';
import { onResponseGiven, onResponseClosed } from './on-response-closed';
import { FairQueue, type Leave, type QueueLimits } from './fair-queue';

/** Limits for all requests but sign-ins. */
export abstract class OverloadLimits implements QueueLimits {
  abstract readonly inWork: number;
  abstract readonly waiting: number;
  abstract readonly waitMs: number;
}

/** Operators must see the service above all when it has too much to do. */
const NEVER_REFUSED = /^\/(health|metrics)(?=[/?]|$)/;
const SIGN_IN = /^\/auth\/(login|refresh|token)(?=[/?]|$)/;
/** More than password checks may run and wait (54), so that those can answer `TOO_MANY_LOGINS` themselves. */
const SIGN_INS = { inWork: 128, waiting: 32 };
/** Work for a client that has left goes on for no longer than this. */
const AFTER_CLOSE_MS = 3000;
const LOG_EVERY_MS = 1000;
/** Made once: an error collects a stack. */
const OVERLOADED = HttpErrors.OVERLOADED();

/**
 * Bounds how many requests are in work and refuses what is too much with 503 `OVERLOADED`. Places are shared round robin by
 * tenant; sign-ins have places of their own, shared by client address: no flood of other requests keeps people from signing in.
 * A request with a body takes its place when the whole body has arrived: slow senders hold none.
 */
@Injectable()
export class OverloadProtection {
  readonly #logger = new Logger('Overload');
  readonly #requests: FairQueue;
  readonly #signIns: FairQueue;
  #loggedAt = -Infinity;
  #loggedRefused = 0;

  constructor(
    limits: OverloadLimits,
    private readonly tokens: VerifiedTokens,
    private readonly statuses: StatusPolicy,
  ) {
    this.#requests = new FairQueue(limits);
    this.#signIns = new FairQueue({ ...SIGN_INS, waitMs: limits.waitMs });
  }

  get counts(): { readonly inWork: number; readonly waiting: number; readonly refused: number } {
    const [requests, signIns] = [this.#requests.counts, this.#signIns.counts];
    return {
      inWork: requests.inWork + signIns.inWork,
      waiting: requests.waiting + signIns.waiting,
      refused: requests.refused + signIns.refused,
    };
  }

  /** Middleware, before anything dear. */
  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    if (NEVER_REFUSED.test(request.url)) next();
    else if (!hasBody(request)) this.#enter(request, response, next);
    else if (this.#queueOf(request).isFullFor(this.#keyOf(request))) this.#refuse(request, response);
    else next();
  };

  /** For a request whose body has arrived: resolves when its turn comes; never, if it was refused. */
  enterWithBody(request: Request, response: Response): Promise<void> {
    return new Promise((resolve) => {
      this.#enter(request, response, resolve);
    });
  }

  #enter(request: Request, response: Response, start: () => void): void {
    const place: { isStarted: boolean; isOver: boolean; leave?: Leave } = { isStarted: false, isOver: false };
    const giveBack = (): void => {
      place.isOver = true;
      place.leave?.();
    };
    // A place is free when the whole answer is given, even if it takes a while to arrive.
    onResponseGiven(response, giveBack);
    onResponseClosed(request, response, () => {
      // The client has left; somebody may still work for it.
      if (place.isStarted && !response.headersSent) setTimeout(giveBack, AFTER_CLOSE_MS).unref();
      else giveBack();
    });
    place.leave = this.#queueOf(request).enter(this.#keyOf(request), {
      start: () => {
        place.isStarted = true;
        start();
      },
      refuse: () => {
        this.#refuse(request, response);
      },
    });
    // It may have been answered at once.
    if (place.isOver) place.leave();
  }

  #queueOf(request: Request): FairQueue {
    return SIGN_IN.test(request.url) ? this.#signIns : this.#requests;
  }

  /** Requests with a token that was never verified share one key, so that no one uses up another tenant's share. */
  #keyOf(request: Request): string {
    if (SIGN_IN.test(request.url)) return clientNetwork(request);
    return this.tokens.tenantOf(request) ?? '';
  }

  #refuse(request: Request, response: Response): void {
    this.#log();
    if (response.headersSent) return;
    response.statusCode = this.statuses.statusFor(OVERLOADED.row.status);
    response.setHeader('Retry-After', String(OVERLOADED.row.retryAfter));
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(JSON.stringify(failure(OVERLOADED, requestIdOf(request), languageOf(request))));
  }

  /** One line a second: a line for each refusal would be a part of the load. */
  #log(): void {
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    const { inWork, waiting, refused } = this.counts;
    this.#logger.warn(
      { inWork, waiting, refused: refused - this.#loggedRefused },
      'overloaded: refusing requests',
    );
    this.#loggedAt = now;
    this.#loggedRefused = refused;
  }
}
