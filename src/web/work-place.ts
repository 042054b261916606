import { setMaxListeners } from 'node:events';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FairQueue, Leave } from '../concurrency/fair-queue';
import { HttpErrors } from '../errors/http.errors';
import { onceClosed } from './request';

/** Work for a client that has left goes on for no longer than this. */
const AFTER_CLOSE_MS = 3000;

/** The place of a request among those in work. It is given back while the request waits, and for good when the request is over. */
export class WorkPlace {
  #leave: Leave = () => undefined;
  #giveUp: () => void = () => undefined;
  #state: 'waiting' | 'held' | 'given back' = 'given back';
  #isOver = false;

  /** Without a queue there is always a place. */
  constructor(
    private queue?: FairQueue,
    private key = '',
  ) {}

  get isOver(): boolean {
    return this.#isOver;
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting';
  }

  enter(start: () => void, refuse: () => void): void {
    this.#state = 'waiting';
    const hold = (): void => {
      this.#state = 'held';
      start();
    };
    if (this.queue) this.#leave = this.queue.enter(this.key, hold, refuse);
    else hold();
  }

  giveBack(): void {
    this.#state = 'given back';
    this.#leave();
  }

  /** Waits for a place again, once it has been given back; fails with the refusal when there is none in time. */
  take(refusal: () => Error = HttpErrors.OVERLOADED): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => {
        this.#state = 'given back';
        reject(refusal());
      };
      if (this.#isOver) this.#giveUp();
      else this.enter(resolve, this.#giveUp);
    });
  }

  /** Gives the place back for one in another queue, in which the request stays. Gives whether it had to wait for it. */
  async moveTo(queue: FairQueue, key: string, refusal?: () => Error): Promise<boolean> {
    if (this.queue === queue && this.#state === 'held') return false;
    this.giveBack();
    [this.queue, this.key] = [queue, key];
    const taken = this.take(refusal);
    const { isWaiting } = this;
    await taken;
    return isWaiting;
  }

  /** Whoever still waits for it waits in vain. */
  end(): void {
    this.#isOver = true;
    this.giveBack();
    this.#giveUp();
  }
}

const workPlace = Symbol('workPlace');
type Placed = Request & { [workPlace]?: WorkPlace };

/** This is the place of that request, until the whole answer is given, or the client has left. */
export function holdWorkPlace(request: Placed, response: Response, place: WorkPlace): void {
  request[workPlace] = place;
  const leave = place.end.bind(place);
  const end = response.end.bind(response);
  // The answer may take a while to arrive. Node tells of it only when the answers before it have gone out.
  response.end = ((...given: Parameters<typeof end>) => {
    leave();
    return end(...given);
  }) as Response['end'];
  onceClosed(response, () => {
    if (place.isOver) return;
    if (place.isWaiting || response.headersSent) place.giveBack();
    // Somebody may still work for the client that has left.
    setTimeout(leave, AFTER_CLOSE_MS).unref();
  });
}

/** The work for a request is done: what is left is to send its answer. */
export function giveWorkPlaceBack(request: Placed): void {
  request[workPlace]?.giveBack();
}

const checks = Symbol('checks');
type Checked = Placed & { [checks]?: (() => Promise<unknown>)[] };

/** Keeps what a caller has passed: who has waited must pass it again. It throws what refuses the caller. */
export function keepCheck(request: Checked, check: () => Promise<unknown>): void {
  request[checks] = [...(request[checks] ?? []), check];
}

/** A request that may wait. */
export interface Idle {
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /**
   * Waits for something outside of this process. Meanwhile the request holds no place of work; afterwards, also after a failure, it
   * waits for one again. Where none comes in time, this fails with 503 `OVERLOADED`.
   */
  during<T>(outside: () => Promise<T>): Promise<T>;
  /**
   * Waits for a place in this queue instead of the one that the request has; it holds that until its answer is made. So no request
   * waits for one place while it holds another. Gives whether it had to wait; who has waited is checked again.
   */
  moveTo(queue: FairQueue, key: string, refusal?: () => Error): Promise<boolean>;
  /** Refuses a caller who would be refused as a new one: tokens, accounts, roles and tenants may have ended meanwhile. */
  checkAgain(): Promise<void>;
}

const idleTime = Symbol('idleTime');
type Timed = Checked & { [idleTime]?: { ms: number; since?: number | undefined } };

/** For how many milliseconds a request has waited for the outside; one whose client has gone may be waiting still. */
export function idleMsOf({ [idleTime]: { ms, since } = { ms: 0 } }: Timed): number {
  return since === undefined ? ms : ms + performance.now() - since;
}

export const IdleRequest = createParamDecorator((_: unknown, context: ExecutionContext): Idle => {
  const http = context.switchToHttp();
  return new WaitingRequest(http.getRequest<Timed>(), http.getResponse<Response>());
});

/** Most requests that may wait do not. */
class WaitingRequest implements Idle {
  #gone: AbortController | undefined;

  constructor(
    private readonly request: Timed,
    private readonly response: Response,
  ) {}

  get signal(): AbortSignal {
    if (this.#gone) return this.#gone.signal;
    const gone = (this.#gone = new AbortController());
    onceClosed(this.response, gone.abort.bind(gone, undefined));
    return gone.signal;
  }

  async during<T>(outside: () => Promise<T>): Promise<T> {
    const place = this.#place();
    place.giveBack();
    this.request[idleTime] = { ms: idleMsOf(this.request), since: performance.now() };
    try {
      return await outside();
    } finally {
      this.request[idleTime] = { ms: idleMsOf(this.request) };
      await place.take();
    }
  }

  async moveTo(...to: Parameters<Idle['moveTo']>): Promise<boolean> {
    const hasWaited = await this.#place().moveTo(...to);
    // Nobody would read the answer.
    if (this.request.socket.destroyed) throw HttpErrors.OVERLOADED();
    if (hasWaited) await this.checkAgain();
    return hasWaited;
  }

  async checkAgain(): Promise<void> {
    for (const check of this.request[checks] ?? []) await check();
  }

  /** In a host, which bounds its requests in its own way, a request has no place until it moves to a queue. */
  #place(): WorkPlace {
    const known = this.request[workPlace];
    if (known) return known;
    const place = new WorkPlace();
    holdWorkPlace(this.request, this.response, place);
    // There is no work yet that could go on for a client that has left.
    if (this.request.socket.destroyed) place.end();
    return place;
  }
}

/** Of host code, which is no request: nobody leaves, and there is no place to give back. */
export const NOT_A_REQUEST: Idle = {
  signal: new AbortController().signal,
  during: (outside) => outside(),
  moveTo: () => Promise.resolve(false),
  checkAgain: () => Promise.resolve(),
};
// All followers of a host listen to it.
setMaxListeners(0, NOT_A_REQUEST.signal);
