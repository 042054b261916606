import { Inject, Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { HttpErrors } from '../../errors/http.errors';
import { clientNetwork, languageOf, noteRefusal, requestIdOf } from '../../web/request';
import { holdWorkPlace, WorkPlace } from '../../web/work-place';
import { failure, refusalHeaders, StatusPolicy } from '../../web/envelope';
import { hasBody, readJsonBody } from '../../web/json-body';
import { TenantAdmission } from '../../tenancy/tenant-access';
import { VerifiedTokens } from '../auth/verified-tokens';
import { FairQueue } from '../../concurrency/fair-queue';
import { ENV, type Env } from '../config/env';

/** Operators must see the service above all when it is overloaded. */
const NEVER_REFUSED = /^\/(health|metrics)(?=[/?]|$)/;
const SIGN_IN = /^\/auth\/(login|refresh|token)(?=[/?]|$)/;
/** More than password checks may run and wait (54), so that those can answer `TOO_MANY_LOGINS` themselves. */
const SIGN_INS = { inWork: 128, waiting: 32 };
const LOG_EVERY_MS = 1000;
/** Places for callers whose token was never verified, or who have none: so many for each of the others. */
const STRANGERS = 1 / 4;
/** Of requests that wait. More of one busy tenant in one turn of the event loop would make all others wait for it. */
const STARTS_PER_TURN = 2;
/** Made once: an error collects a stack. */
const OVERLOADED = HttpErrors.OVERLOADED();
const HEADERS = {
  ...refusalHeaders(OVERLOADED.row),
  'Content-Type': 'application/json; charset=utf-8',
};

/** Where a request waits, and for whom. */
interface Line {
  readonly queue: FairQueue;
  readonly key: string;
}

/**
 * Bounds how many requests are in work and refuses what is too much with 503 `OVERLOADED`. Places are shared round robin by
 * top-level tenant. Sign-ins and callers with no verified token have places of their own, shared by client address: no flood of
 * other requests keeps people from signing in, and no flood of strangers keeps known callers from their work.
 */
@Injectable()
export class OverloadProtection {
  readonly #logger = new Logger('Overload');
  readonly #requests: FairQueue;
  readonly #signIns: FairQueue;
  readonly #strangers: FairQueue;
  #loggedAt = -Infinity;

  constructor(
    @Inject(ENV) { MAX_IN_WORK: inWork, MAX_WAITING: waiting, MAX_WAIT_MS: waitMs }: Env,
    private readonly tokens: VerifiedTokens,
    private readonly statuses: StatusPolicy,
    private readonly tenants: TenantAdmission,
  ) {
    this.#requests = new FairQueue({ inWork, waiting, waitMs, startsPerTurn: STARTS_PER_TURN });
    this.#signIns = new FairQueue({ ...SIGN_INS, waitMs });
    this.#strangers = new FairQueue({ inWork: Math.max(1, Math.floor(STRANGERS * inWork)), waiting, waitMs });
  }

  get counts(): FairQueue['counts'] {
    const all = [this.#requests, this.#signIns, this.#strangers].map(({ counts }) => counts);
    const sumOf = (name: keyof FairQueue['counts']) => all.reduce((sum, { [name]: count }) => sum + count, 0);
    return { inWork: sumOf('inWork'), waiting: sumOf('waiting'), refused: sumOf('refused') };
  }

  /** Middleware, before anything expensive. A refusal must cost little: in a flood there are many for each answer. */
  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    if (NEVER_REFUSED.test(request.url)) {
      next();
      return;
    }
    const line = this.#lineOf(request);
    if (line.queue.refuses(line.key)) this.#refuse(request, response);
    else if (hasBody(request)) next();
    else this.enter(request, response, next, line);
  };

  enter(
    request: Request,
    response: Response,
    next: () => void,
    { queue, key }: Line = this.#lineOf(request),
  ): void {
    // Nobody would read the answer.
    if (request.socket.destroyed) return;
    const place = new WorkPlace(queue, key);
    holdWorkPlace(request, response, place);
    place.enter(next, this.#refuse.bind(this, request, response));
    // It may have been answered at once.
    if (response.writableEnded) place.end();
  }

  /** A name in a token that was never verified proves nothing: it must not use up the share of its tenant. */
  #lineOf(request: Request): Line {
    if (SIGN_IN.test(request.url)) return { queue: this.#signIns, key: clientNetwork(request) };
    const tenantId = this.tokens.tenantOf(request);
    if (tenantId === undefined) return { queue: this.#strangers, key: clientNetwork(request) };
    return { queue: this.#requests, key: this.tenants.knownTopTenantOf(tenantId) };
  }

  #refuse(request: Request, response: Response): void {
    this.#log();
    if (response.headersSent) return;
    noteRefusal(response, OVERLOADED.row);
    response.writeHead(this.statuses.statusFor(OVERLOADED.row.status), HEADERS);
    response.end(JSON.stringify(failure(OVERLOADED, requestIdOf(request), languageOf(request))));
  }

  /** One line a second: a line for each refusal would be a part of the load. */
  #log(): void {
    if (performance.now() - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = performance.now();
    this.#logger.warn(this.counts, 'overloaded: refusing requests');
  }
}

/**
 * Global, after the token check: reads the body of callers whose token is valid; Node drops that of others after the answer. A request
 * with a body takes its place when the whole body has arrived, so that slow senders hold none.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly overload: OverloadProtection) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    return !hasBody(request) || this.#read(request, context.switchToHttp().getResponse<Response>());
  }

  async #read(request: Request, response: Response): Promise<boolean> {
    if (request.user) await readJsonBody(request, response, 'caller');
    await new Promise<void>((resolve) => {
      this.overload.enter(request, response, resolve);
    });
    return true;
  }
}
