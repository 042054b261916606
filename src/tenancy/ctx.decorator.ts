import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { RequestContext } from './request-context';

const context = Symbol('requestContext');
type Scoped = Request & { [context]?: RequestContext };

export function attachContext(request: Scoped, ctx: RequestContext): void {
  request[context] = ctx;
}

/** The request's context, as a handler's argument; it fails on a route that is not tenant-scoped. */
export const Ctx = createParamDecorator((_: unknown, execution: ExecutionContext): RequestContext => {
  const ctx = execution.switchToHttp().getRequest<Scoped>()[context];
  if (!ctx) throw new Error('This route has no tenant scope.');
  return ctx;
});
