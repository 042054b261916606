import { createHash } from 'node:crypto';
import {
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { revisionOf, tagOf } from './revision';
import { Created } from './created';
import { success } from './envelope';
import { refuseUnreadBody } from './unread-body';

/** Wraps what a handler returns; nothing returned is `data: null`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    refuseUnreadBody(context, context.switchToHttp().getRequest<Request>());
    return inEnvelope(context, next.handle());
  }
}

export function inEnvelope(context: ExecutionContext, results: Observable<unknown>): Observable<unknown> {
  const request = context.switchToHttp().getRequest<Request>();
  const response = context.switchToHttp().getResponse<Response>();
  return results.pipe(
    map((result) => {
      if (result instanceof StreamableFile) return result;
      if (request.method === 'GET' || request.method === 'HEAD') {
        // Express would not answer 304 to `no-cache`, which every fetch with an If-None-Match of its own sends.
        delete request.headers['cache-control'];
        return tagged(response, result ?? null);
      }
      if (!(result instanceof Created)) return success(result ?? null);
      response.setHeader('Location', locationOf(request, result));
      return success(null);
    }),
  );
}

/** What was read, under a strong entity tag. Express answers 304 by itself when the client has it already. */
function tagged(response: Response, data: unknown): unknown {
  if (tag(response, data)) return success(data);
  const text = JSON.stringify(success(data));
  response.setHeader('ETag', `"${createHash('sha1').update(text).digest('base64url')}"`);
  response.type('json');
  return text;
}

/** Tags an answer with the revision of the row that it shows; tells whether it shows one, else its hash has to do. */
export function tag(response: Response, data: unknown): boolean {
  response.setHeader('Cache-Control', 'private, no-cache');
  const revision = revisionOf(data);
  if (revision !== undefined) response.setHeader('ETag', tagOf(revision));
  return revision !== undefined;
}

/** Below the path that was called, so that it stays right where a host has moved the routes. */
function locationOf(request: Request, { id }: Created): string {
  const [path = ''] = request.originalUrl.split('?');
  return `${path.replace(/\/+$/, '')}/${id}`;
}
