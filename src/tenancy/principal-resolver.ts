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

/** The HTTP request of a handler. What Nest gives for one in other handlers is a message, in which a client can say that it is anybody. */
export function requestIn(context: ExecutionContext): Request {
  const type = context.getType<string>();
  if (type !== 'http') throw new Error(`Tenantry knows callers of HTTP requests only, not of ${type}.`);
  return context.switchToHttp().getRequest<Request>();
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
