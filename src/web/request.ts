import { randomUUID } from 'node:crypto';
import { isIP, isIPv6, type Socket } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { Express, NextFunction, Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import type { Refusal } from '../errors/refusal';

/** What a request says of itself: its id, its language, its client and the type of its body. */

/** The secret of a key does not belong there; it must not get into logs. */
const SAFE_ID = /^(?!.*tnt_)[A-Za-z0-9._-]{1,64}$/;
const requestId = Symbol('requestId');

/** Gives every request an id (the caller's own, if it is harmless) and echoes it. */
export function requestIdMiddleware(request: Request, response: Response, next: NextFunction): void {
  echoRequestId(request, response);
  next();
}

/** In a host, which may have told an id of its own. */
export function echoRequestId(request: Request, response: Response): void {
  if (!response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', requestIdOf(request));
}

/** The id of a request; in a host without the middleware it is given at the first question. */
export function requestIdOf(request: Request & { [requestId]?: string }): string {
  const sent = request.headers['x-request-id'];
  const id = request[requestId] ?? (typeof sent === 'string' && SAFE_ID.test(sent) ? sent : randomUUID());
  request[requestId] = id;
  return id;
}

const passedGuards = Symbol('passedGuards');
type Guarded = Request & { [passedGuards]?: boolean };

/** Notes that a request has passed all guards, or that it must pass them again. */
export function notePassedGuards(request: Guarded, hasPassed: boolean): void {
  request[passedGuards] = hasPassed;
}

/** Whether a request has passed all guards, those of the host included. What is thrown before that is thrown by a guard. */
export function hasPassedGuards(request: Guarded): boolean {
  return request[passedGuards] === true;
}

export const LANGUAGES = ['zh', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

const LANGUAGE = 'tenantry language';

/** Sets the language of messages to callers who prefer none; it is a setting of the Express application. */
export function setDefaultLanguage({ httpAdapter }: Partial<HttpAdapterHost>, language: Language): void {
  httpAdapter?.getInstance<Partial<Express>>().set?.(LANGUAGE, language);
}

/** The language of messages: what the caller prefers, or else the default. */
export function languageOf(request: Request): Language {
  const first = request.app.get(LANGUAGE) === 'en' ? 'en' : 'zh';
  if (request.headers['accept-language'] === undefined) return first;
  const preferred = request.acceptsLanguages(...(first === 'en' ? ['en', 'zh'] : ['zh', 'en']));
  return preferred === 'en' || preferred === 'zh' ? preferred : first;
}

/** The address of the client; behind a proxy that is trusted (`trust proxy`), the one that the proxy names. */
export function clientAddress(request: Request): string {
  const named = request.ip ?? '';
  const address = isIP(named) ? named : (request.socket.remoteAddress ?? '');
  // How a socket for both families names an IPv4 client.
  return address.replace(/^::ffff:(?=[0-9.]+$)/i, '');
}

/** What counts as one client: an IPv4 address, or an IPv6 network, because one client has all of its addresses. */
export function clientNetwork(request: Request): string {
  const address = clientAddress(request);
  return isIPv6(address) ? `${networkOf(address)}::/64` : address;
}

/** The client of a request, for what is counted per client. */
export const ClientNetwork = createParamDecorator((_: unknown, context: ExecutionContext) =>
  clientNetwork(context.switchToHttp().getRequest<Request>()),
);

/** The first four of the eight groups of an IPv6 address. */
function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%', 1);
  const [first = [], last = []] = withoutZone.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(Math.max(8 - first.length - last.length, 0)).fill('0');
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/**
 * Calls `listener` once, when the response is over or its client has gone; at once where that has been. Node emits no `close` for a
 * response that stood behind another one when their connection closed.
 */
export function onceClosed(response: Response, listener: () => void): void {
  // Adapters of serverless platforms give a plain object.
  const socket: Partial<Socket> = response.req.socket;
  if (response.closed || socket.destroyed) {
    listener();
    return;
  }
  let isTold = false;
  const close = (): void => {
    socket.off?.('close', close);
    response.off('close', close);
    // A socket that closes tells its response, and then goes on with the listeners that it had.
    if (!isTold) listener();
    isTold = true;
  };
  socket.once?.('close', close);
  response.once('close', close);
}

/** How a request ended, for the log and the metrics. */
export interface Outcome {
  /** The envelope's `code`: under `always-200` the status of the answer does not tell. */
  readonly status: number;
  /** Why it was refused. */
  readonly reason?: string | undefined;
}

/** 499, as proxies write it: the client has gone before it had its answer. */
export const CLIENT_GONE: Outcome = { status: 499, reason: 'CLIENT_GONE' };

/** Keeps why a request is refused until it is over. */
export function noteRefusal(response: Response, { status, reason }: Outcome): void {
  response.locals.refused = { status, reason };
}

/** How a request ended; its response must be closed. */
export function outcomeOf(response: Response): Outcome {
  const refused = response.locals.refused as Outcome | undefined;
  if (refused) return refused;
  return response.writableFinished ? { status: response.statusCode } : CLIENT_GONE;
}

/** Whether the client has gone before it had sent all of its request: reading the body fails, and no one waits for an answer. */
export function hasBrokenOff({ destroyed, complete }: Request): boolean {
  return destroyed && !complete;
}

/** A bug, or something of ours that failed for a cause; a busy service that turns callers away has none to tell. */
export function isFailure({ status }: Outcome, error: unknown): boolean {
  return status === 500 || (status > 500 && (error as Error).cause !== undefined);
}

/** Of a request that has reached no route. */
export const NO_ROUTE = 'none';

/** The template of the route that a request has reached, never its address. */
export function routeOf({ route }: Request): string {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : NO_ROUTE;
}

export const JSON_TYPE = 'application/json';
export const SVG_TYPE = 'image/svg+xml';

/** Whether the client rather has a drawing than JSON. */
export const WantsSvg = createParamDecorator((_: unknown, context: ExecutionContext): boolean => {
  const http = context.switchToHttp();
  http.getResponse<Response>().vary('Accept');
  return http.getRequest<Request>().accepts([JSON_TYPE, SVG_TYPE]) === SVG_TYPE;
});

/** A JSON merge patch, or the same under its plain name. */
export const PATCH_TYPES = ['application/merge-patch+json', JSON_TYPE];

/** Refuses a body of another type than these. */
export function wrongType(types: readonly string[]): Refusal {
  const message = {
    zh: `只能为 ${types.join(' 或 ')}，且编码为 UTF-8`,
    en: `must be ${types.join(' or ')}, in UTF-8`,
  };
  return HttpErrors.MEDIA_TYPE({ fields: [{ field: 'Content-Type', message }] });
}

/** JSON is UTF-8; a client that names another charset means something else. */
export function isUtf8Type(type = ''): boolean {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8';
}
