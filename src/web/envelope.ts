import { hash } from 'node:crypto';
import {
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express, Request, Response } from 'express';
import { from, map, mergeMap, type Observable } from 'rxjs';
import { detailsIn, type ErrorRow, type Refusal } from '../errors/refusal';
import type { Language } from './request';
import { giveWorkPlaceBack } from './work-place';
import { FIRST_TAG, revisionOf, tagOf } from '../database/revision';
import { JsonParts, LargeAnswer } from './large-answer';
import { checkNames } from './unknown-names';

/** The form of every answer. */
export interface Envelope<T> {
  readonly code: number;
  readonly msg: string;
  readonly data: T;
}

export const SUCCESS_CODE = 200;
export const SUCCESS_MESSAGE = '操作成功';

export function success<T>(data: T): Envelope<T> {
  return { code: SUCCESS_CODE, msg: SUCCESS_MESSAGE, data };
}

export function failure(refusal: Refusal, requestId: string, language: Language): Envelope<object> {
  const { row, details } = refusal;
  const data = { reason: row.reason, requestId, ...detailsIn(language, details) };
  return { code: row.status, msg: row[language], data };
}

/** What a host makes of every answer, at once. */
export type AnswerForm = (answer: Envelope<unknown>, request: Request) => unknown;

const FORM = 'tenantry envelope';

/** Sets the form of answers that a host has chosen; it is a setting of the Express application. */
export function setEnvelope({ httpAdapter }: Partial<HttpAdapterHost>, form: AnswerForm | undefined): void {
  httpAdapter?.getInstance<Partial<Express>>().set?.(FORM, form);
}

/** An answer as it is sent. */
export function inForm(answer: Envelope<unknown>, request: Request): unknown {
  const form = request.app.get(FORM) as AnswerForm | undefined;
  if (!form) return answer;
  const formed = form(answer, request);
  if (formed === undefined) throw new Error('The option envelope has given nothing.');
  return formed;
}

/** Headers that a refusal carries beside its envelope. */
export function refusalHeaders(row: ErrorRow): Record<string, string> {
  return {
    ...(row.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(row.retryAfter !== undefined && { 'Retry-After': String(row.retryAfter) }),
  };
}

/** Whether the HTTP status says what `code` says, or is always 200 for clients that look only at `code`. */
export const HTTP_STATUS_MODES = ['match-code', 'always-200'] as const;
export type HttpStatusMode = (typeof HTTP_STATUS_MODES)[number];

/** The HTTP status that goes with an envelope's `code`. */
export class StatusPolicy {
  constructor(private readonly mode: HttpStatusMode) {}

  statusFor(code: number): number {
    return this.mode === 'always-200' ? 200 : code;
  }
}

/**
 * The result of a create: `Location` names the new path, `ETag` is the one that a read of it answers, and `data` is null unless
 * there is more to tell.
 */
export class Created {
  constructor(
    readonly id: number | string,
    readonly data: object | null = null,
  ) {}

  readonly tag = FIRST_TAG;
}

/** The result of a change: `data` is null, and `ETag` is the one that a read of it answers from now on. */
export class Changed {
  readonly tag: string;

  constructor(revision: number) {
    this.tag = tagOf(revision);
  }
}

/** A read that is no JSON, outside the envelope: a drawing, a page. */
export class TextAnswer {
  constructor(
    /** As Express knows it: `svg`, `html`. */
    readonly type: string,
    readonly text: string,
  ) {}
}

/** Wraps what a handler returns; nothing returned is `data: null`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly host: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    checkNames(context);
    return inEnvelope(context, next.handle(), this.host);
  }
}

export function inEnvelope(
  context: ExecutionContext,
  results: Observable<unknown>,
  { httpAdapter }: HttpAdapterHost,
): Observable<unknown> {
  const request = context.switchToHttp().getRequest<Request>();
  const response = context.switchToHttp().getResponse<Response>();
  const keep = (result: unknown): unknown => {
    const { seen, sent } =
      result instanceof StreamableFile
        ? { seen: result, sent: result }
        : enveloped(request, response, result);
    // A client may take its time for a large one; what is sent while it is read has limits of its own.
    if (typeof sent !== 'string') giveWorkPlaceBack(request);
    keepAnswer(response, () => {
      httpAdapter.reply(response, sent instanceof JsonParts ? sent.toReply(request) : sent);
    });
    return seen;
  };
  return results.pipe(
    mergeMap((result) =>
      result instanceof LargeAnswer
        ? from(JsonParts.of(inForm(success(result.data), request))).pipe(map(keep))
        : [keep(result)],
    ),
  );
}

/** The methods of responses as they were; middleware of a host may have replaced them, to see what is sent. */
const replaced = new WeakMap<Response, Pick<Response, 'json' | 'send'>>();

/** Sends this answer when Nest replies, whatever interceptors of a host have made of it in the meantime. */
function keepAnswer(response: Response, reply: () => void): void {
  // An interceptor may have run the handler before.
  releaseAnswer(response);
  const { json, send: plainSend } = response;
  replaced.set(response, { json, send: plainSend });
  const send = (): Response => {
    releaseAnswer(response);
    reply();
    return response;
  };
  Object.assign(response, { json: send, send });
}

/** Lets something else be answered: a refusal, after an interceptor of the host has failed. */
export function releaseAnswer(response: Response): void {
  Object.assign(response, replaced.get(response));
  replaced.delete(response);
}

/** What is sent is a text by now, or one in parts. Interceptors of a host see an object: some of them fail at anything else. */
interface SentEnvelope {
  readonly seen: unknown;
  readonly sent: string | JsonParts;
}

function enveloped(request: Request, response: Response, result: unknown): SentEnvelope {
  if (result instanceof TextAnswer) response.type(result.type);
  else response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (request.method === 'GET' || request.method === 'HEAD') {
    // Express would not answer 304 to `no-cache`, which every fetch with an If-None-Match of its own sends.
    delete request.headers['cache-control'];
    return tagged(request, response, result ?? null);
  }
  if (result instanceof Created || result instanceof Changed) response.setHeader('ETag', result.tag);
  if (result instanceof Changed) return answerOf(request, null);
  if (!(result instanceof Created)) return answerOf(request, result ?? null);
  // Below the path that was called, so that it stays right where a host has moved the routes.
  const [path = ''] = request.originalUrl.split('?');
  response.setHeader('Location', `${path.replace(/\/+$/, '')}/${result.id}`);
  return answerOf(request, result.data);
}

/**
 * What was read, under a strong entity tag: the revision of the row that it shows, or a hash of its text. Express answers
 * 304 by itself when the client has it already.
 */
function tagged(request: Request, response: Response, data: unknown): SentEnvelope {
  const answer = data instanceof TextAnswer ? { seen: data, sent: data.text } : answerOf(request, data);
  const revision = revisionOf(data);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('ETag', revision === undefined ? `"${digestOf(answer.sent)}"` : tagOf(revision));
  return answer;
}

function digestOf(sent: SentEnvelope['sent']): string {
  return sent instanceof JsonParts ? sent.digest : hash('sha1', sent, 'base64url');
}

function answerOf(request: Request, data: unknown): SentEnvelope {
  if (data instanceof JsonParts) return { seen: data.value, sent: data };
  const seen = inForm(success(data), request);
  return { seen, sent: JSON.stringify(seen) };
}
