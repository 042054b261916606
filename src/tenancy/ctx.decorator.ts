import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { RequestContext } from './request-context';

const context = Symbol('requestContext');
type Scoped = Request & { [context]?: RequestContext };

export function attachContext(request: Scoped, ctx: RequestContext): void {
  request[context] = ctx;
}

/** On whose behalf a request acts; it fails on a route that is not tenant-scoped. */
export function contextOf(request: Scoped): RequestContext {
  const ctx = request[context];
  if (!ctx) throw new Error('This route has no tenant scope.');
  return ctx;
}

/** The request's context, as a handler's argument. */
export const Ctx = createParamDecorator((_: unknown, execution: ExecutionContext): RequestContext =>
  contextOf(execution.switchToHttp().getRequest<Request>()),
);
