import type { ServerResponse } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { VerifiedTokens } from '../auth/verified-tokens';
import { hasBody } from '../http/json-body';
import { whenGiven, whenOver } from '../http/when-over';
import { Admission } from './admission';
import { kindOf, type Place, type Visit } from './share';
import { ShortRefusal } from './short-refusal';

/** No work goes on for longer after its client has left; what streams ends with the client. */
const AFTERMATH_MS = 3000;
const TELL_MS = 1000;
/** Operators must see the service above all when it has too much to do. */
const ALWAYS_SERVED = /^\/(health|metrics)(?=[/?]|$)/;

/** A class, because an object with a getter would cost more than all the rest of the door. */
class Caller implements Visit {
  constructor(
    private readonly request: Request,
    private readonly response: Response,
    readonly begin: () => void,
    private readonly turnAway: (request: Request, response: Response) => void,
  ) {}

  get isIdle(): boolean {
    return this.response.headersSent || !this.request.complete;
  }

  refuse(): void {
    this.turnAway(this.request, this.response);
  }
}

/**
 * Stands before Express: what there is no room for is refused before anything is made of it, and costs a small part of what
 * serving it would. A request with a body takes its place when all of it has come: otherwise clients that send slowly
 * would hold all places.
 */
@Injectable()
export class Doorkeeper {
  readonly #logger = new Logger('Admission');
  #toldAt = 0;
  #told = 0;

  constructor(
    private readonly admission: Admission,
    private readonly tokens: VerifiedTokens,
    private readonly refusal: ShortRefusal,
  ) {}

  /** Every request comes here first. */
  meet(request: Request, response: Response, serve: () => void): void {
    if (ALWAYS_SERVED.test(request.url)) serve();
    else if (!hasBody(request)) this.#admit(request, response, serve);
    else if (this.admission.turnsAway(this.#tenantOf(request), kindOf(request.method)))
      this.#refuse(request, response);
    else serve();
  }

  /** For requests whose body has been read: resolves when there is room; for one that is refused, never. */
  admitWithBody(request: Request, response: Response): Promise<void> {
    return new Promise((resolve) => {
      if (ALWAYS_SERVED.test(request.url)) resolve();
      else this.#admit(request, response, resolve);
    });
  }

  #admit(request: Request, response: Response, serve: () => void): void {
    const caller = new Caller(request, response, serve, this.#turnAway);
    const place = this.admission.enter(this.#tenantOf(request), kindOf(request.method), caller);
    if (place.state === 'gone') {
      this.#refuse(request, response);
      return;
    }
    this.#leaveAfter(request, response, place);
    if (place.state === 'in work') serve();
  }

  /** A place is free when its answer is given, even if that takes a while to arrive; or when who waits goes away. */
  #leaveAfter(request: Request, response: ServerResponse, place: Place): void {
    whenGiven(response, () => {
      this.admission.leave(place);
    });
    whenOver(request, response, () => {
      if (place.state === 'gone') return;
      // Somebody is still at work for who has left: the place is not free yet.
      if (place.state === 'in work' && !response.headersSent) {
        setTimeout(() => {
          this.admission.leave(place);
        }, AFTERMATH_MS).unref();
      } else this.admission.leave(place);
    });
  }

  readonly #turnAway = (request: Request, response: Response): void => {
    this.#refuse(request, response);
  };

  #refuse(request: Request, response: Response): void {
    this.refusal.send(request, response);
    this.#tell();
  }

  /** One line a second: a line for each would be a part of the load. */
  #tell(): void {
    const now = performance.now();
    if (now - this.#toldAt < TELL_MS) return;
    const { inWork, waiting, refused } = this.admission.counts;
    this.#logger.warn({ inWork, waiting, refused: refused - this.#told }, 'overloaded: requests are refused');
    this.#toldAt = now;
    this.#told = refused;
  }

  /** Those whose token has not been seen before share one part, so that nobody takes another's by naming it. */
  #tenantOf(request: Request): string {
    return this.tokens.tenantOf(request) ?? '';
  }
}
