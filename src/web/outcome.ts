import type { Request, Response } from 'express';

/** How a request ended, for who looks after the service. */
export interface Outcome {
  /** The envelope's `code`: under `always-200` the status of the answer does not tell. */
  readonly status: number;
  /** Why it was refused. */
  readonly reason?: string | undefined;
}

/** As proxies write it: the client has gone before it had its answer. */
const CLIENT_GONE: Outcome = { status: 499, reason: 'CLIENT_GONE' };

/** Keeps why a request is refused until it is over. */
export function noteRefusal(response: Response, { status, reason }: Outcome): void {
  response.locals.refused = { status, reason };
}

/** How a request ended whose response is closed. */
export function outcomeOf(response: Response): Outcome {
  const refused = response.locals.refused as Outcome | undefined;
  if (refused) return refused;
  return response.writableFinished ? { status: response.statusCode } : CLIENT_GONE;
}

/** Whether the client has gone before it had sent all of its request: whoever reads the body fails, and nobody wants an answer. */
export function hasBrokenOff({ destroyed, complete }: Request): boolean {
  return destroyed && !complete;
}

/** A bug, or something of ours that failed for a cause; a busy service that turns callers away has none to tell. */
export function isFailure({ status }: Outcome, error: unknown): boolean {
  return status === 500 || (status > 500 && (error as Error).cause !== undefined);
}

/** The template of the route that a request has reached, never its address; undefined when it has reached none. */
export function routeOf({ route }: Request): string | undefined {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : undefined;
}
