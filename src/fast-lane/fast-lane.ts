import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { MANAGERS, READERS, type Role } from '../auth/roles';
import { VerifiedTokens } from '../auth/verified-tokens';
import { CreateDeptDto } from '../dept/dept.dto';
import { DeptService } from '../dept/dept.service';
import { BodyGuard } from '../http/body.guard';
import { BodyPipe } from '../http/body.pipe';
import { success } from '../http/envelope';
import { tag } from '../http/envelope.interceptor';
import { parseNumericId } from '../http/ids';
import { hasBody } from '../http/json-body';
import { refuseNonObject } from '../http/unread-body';
import { RateLimiter } from '../limits/rate-limiter';
import { RequestContext } from '../tenancy/request-context';
import { TenantAdmission } from '../tenancy/tenant-admission';

const DEPTS = '/system/dept-api';
const DEPT = `${DEPTS}/`;
/** What Nest's router calls these places. */
const ROUTES = { GET: { path: `${DEPT}:id` }, POST: { path: DEPTS } };
const NEW_DEPT = { type: 'body', metatype: CreateDeptDto } as const;

/** What is done for a request that may be answered here. */
interface Operation {
  readonly roles: readonly Role[];
  readonly route: { readonly path: string };
  /** Sets headers and gives `data`. */
  readonly run: (ctx: RequestContext, response: Response) => Promise<unknown>;
}

/**
 * The hot paths: a department by its id, which is what is asked for most, and a new one are answered before the router.
 * What Nest does around guards and an interceptor costs more than all that they do; here the same checks, by the same
 * objects and in the same order, stand in one function. Whatever is not the plainest form of these requests, or is not
 * known to be allowed, takes the way of all others, which counts it only once; what is refused further in is answered by
 * the same filter.
 */
@Injectable()
export class FastLane {
  readonly #body = new BodyPipe();

  constructor(
    private readonly tokens: VerifiedTokens,
    private readonly limiter: RateLimiter,
    private readonly tenants: TenantAdmission,
    private readonly depts: DeptService,
    private readonly bodies: BodyGuard,
  ) {}

  handle(request: Request, response: Response, next: NextFunction): void {
    const operation = this.#operationOf(request);
    if (operation) this.#answer(operation, request, response, next).catch(next);
    else next();
  }

  async #answer(
    { roles, route, run }: Operation,
    request: Request,
    response: Response,
    next: NextFunction,
  ): Promise<void> {
    const principal = await this.tokens.recall(request);
    if (!principal) {
      next();
      return;
    }
    request.user = principal;
    request.route = route;
    const isAdmitted = await this.limiter.admitsCaller(request, response);
    if (!isAdmitted || !principal.roles.some((role) => roles.includes(role))) {
      next();
      return;
    }
    if (request.method === 'POST') {
      await this.bodies.read(request, response);
      refuseNonObject(request.body);
    }
    await this.tenants.admit(principal.tenantId);
    const body = JSON.stringify(success(await run(RequestContext.of(principal), response)));
    response.statusCode = 200;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  }

  #operationOf(request: Request): Operation | null {
    if (request.method === 'GET') return this.#reading(request);
    return request.method === 'POST' ? this.#creating(request) : null;
  }

  /** A GET for one place below the prefix, without conditions and without a body. */
  #reading(request: Request): Operation | null {
    const { url, headers } = request;
    if (!url.startsWith(DEPT) || hasBody(request)) return null;
    if (headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined) return null;
    const deptId = parseNumericId(url.slice(DEPT.length));
    if (deptId === null) return null;
    const run: Operation['run'] = async (ctx, response) => {
      const dept = await this.depts.get(ctx, deptId);
      tag(response, dept);
      return dept;
    };
    return { roles: READERS, route: ROUTES.GET, run };
  }

  /** A POST, without a key that would make it happen once. */
  #creating(request: Request): Operation | null {
    const { url, headers } = request;
    if (url !== DEPTS || headers['idempotency-key'] !== undefined) return null;
    const run: Operation['run'] = async (ctx, response) => {
      const dto = (await this.#body.transform(request.body, NEW_DEPT)) as CreateDeptDto;
      response.setHeader('Location', DEPT + String(await this.depts.create(ctx, dto)));
      return null;
    };
    return { roles: MANAGERS, route: ROUTES.POST, run };
  }
}
