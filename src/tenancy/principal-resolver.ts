import type { Readable } from 'node:stream';
import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalProblem, type Principal } from './principal';
import { isRole } from './roles';

/** The caller, or null for none; at once, or later. */
export type CallerAnswer = Principal | null | Promise<Principal | null>;

/**
 * Who is calling? A port: a host answers from its own sign-in, at once or with a promise. Null is a 401.
 * It is asked once per request, and again before a request is answered that has waited for a change.
 */
export abstract class PrincipalResolver {
  abstract resolve(request: Request & { readonly user?: unknown }): CallerAnswer;

  /**
   * Who is calling a handler that no HTTP request has reached: of messages, GraphQL or a gateway. It must not believe what a message
   * says of its sender. Each of Tenantry's decorators on the handler asks it; without it they refuse such handlers.
   */
  resolveOther?(context: ExecutionContext): CallerAnswer;
}

/** The service's own answer: what JwtAuthGuard has found. */
@Injectable()
export class JwtPrincipalResolver extends PrincipalResolver {
  override resolve(request: Request): Principal | null {
    return (request.user as Principal | undefined) ?? null;
  }
}

/** Where a host has no resolver: it refuses every request. With routes, such a host does not even start. */
export class NobodyResolver extends PrincipalResolver {
  override resolve(): null {
    return null;
  }
}

/**
 * The HTTP request that has reached a handler. What Nest gives for one in other handlers is a message, in which a client can say
 * that it is anybody; libraries that do not name the kind of their handlers say that it is HTTP. But no message is a stream.
 */
export function requestIn(context: ExecutionContext): Request | null {
  if (context.getType() !== 'http') return null;
  const request = context.switchToHttp().getRequest<(Request & { readonly raw?: Readable }) | undefined>();
  // Fastify keeps the stream in `raw`.
  return typeof (request?.raw ?? request)?.pipe === 'function' ? (request ?? null) : null;
}

/** The resolver's answer for what has reached a handler. */
export function callerIn(principals: PrincipalResolver, context: ExecutionContext): CallerAnswer {
  const request = requestIn(context);
  if (request) return callerOf(principals, request);
  if (principals.resolveOther) return onlyGenuine(principals.resolveOther(context));
  const type = context.getType<string>();
  const kind = type === 'http' ? 'messages' : type;
  throw new Error(
    `Tenantry knows callers of HTTP requests only, not of ${kind}: the principalResolver has no resolveOther.`,
  );
}

const asked = Symbol('caller');

/** The resolver's answer for this request; guard and interceptor share it. */
export function callerOf(
  principals: PrincipalResolver,
  request: Request & { [asked]?: { readonly caller: CallerAnswer } },
): CallerAnswer {
  const answer = request[asked] ?? { caller: onlyGenuine(principals.resolve(request)) };
  request[asked] = answer;
  return answer.caller;
}

/** Lets the resolver be asked again. */
export function forgetCaller(request: Request & { [asked]?: unknown }): void {
  request[asked] = undefined;
}

/** A caller that is not rightly described is a bug of the host, which must not open a door. Roles that we do not know are dropped. */
function onlyGenuine(caller: CallerAnswer): CallerAnswer {
  if (caller == null) return null;
  if (typeof caller === 'object' && 'then' in caller) return caller.then((found) => onlyGenuine(found));
  const problem = principalProblem(caller);
  if (problem !== null) throw new Error(`The principalResolver gave a wrong principal: ${problem}.`);
  const sent: readonly string[] = caller.roles;
  return sent.every(isRole) ? caller : { ...caller, roles: sent.filter(isRole) };
}
