import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Created } from './created';
import { success, type Envelope } from './envelope';

/** Wraps what a handler returns; nothing returned is `data: null`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor<unknown, Envelope<unknown>> {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<Envelope<unknown>> {
    return next.handle().pipe(
      map((result) => {
        if (!(result instanceof Created)) return success(result ?? null);
        const http = context.switchToHttp();
        http.getResponse<Response>().setHeader('Location', locationOf(http.getRequest<Request>(), result));
        return success(null);
      }),
    );
  }
}

/** Below the path that was called, so that it stays right where a host has moved the routes. */
function locationOf(request: Request, { id }: Created): string {
  const [path = ''] = request.originalUrl.split('?');
  return `${path.replace(/\/+$/, '')}/${id}`;
}
