import { randomUUID } from 'node:crypto';
import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { ApiHeader } from '@nestjs/swagger';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { decoratedMethods } from '../../database/domain-events';
import { DatabaseErrors } from '../../database/database.errors';
import { HttpErrors } from '../../errors/http.errors';
import { Refusal } from '../../errors/refusal';
import { requestIn } from '../../tenancy/principal-resolver';
import { contextIn } from '../../tenancy/request-context';
import { TenantScoped } from '../../web/organisation-controller';
import { MayRefuse } from '../../web/refusal-responses';
import { requestIdOf } from '../../web/request';
import { QuotaKinds } from './quota-kinds';
import { QuotaErrors } from './quota.errors';
import { QuotaService } from './quota.service';

export interface UsesQuotaOptions<T = unknown> {
  /** How much one call spends. Default 1. */
  readonly amount?: number;
  /** How long the handler may take; after it, what it has reserved is free for others. Default 600. */
  readonly seconds?: number;
  /**
   * Whether the handler gives the same answer again to the same `Idempotency-Key`. Then it is called again for a key that has spent
   * already, for nothing, and beside an equal request that is under way. Default `false`: such requests get a 409.
   */
  readonly replays?: boolean;
  /** Whether this answer is worth the quota, for handlers that answer errors instead of throwing them. Default: every answer is. */
  readonly spends?: (answer: T) => boolean;
}

const USED = 'tenantry:usesQuota';
type Used = Required<UsesQuotaOptions<never>> & { readonly kind: string };

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description: 'Requests with the same key spend once.',
  required: false,
};

const REFUSALS = [
  HttpErrors.INVALID,
  QuotaErrors.EXCEEDED,
  QuotaErrors.RESERVATION_OVER,
  QuotaErrors.KEY_REUSED,
  DatabaseErrors.UNAVAILABLE,
];

/**
 * On a host's handler: a part of the quota is reserved before it runs, spent when it has succeeded, and released when it threw. The
 * key is the request's `Idempotency-Key`, or else its id; a message has none, and spends each time. The caller's tenant must be one
 * that is served.
 */
export function UsesQuota<T>(
  kind: string,
  { amount = 1, seconds = 600, replays = false, spends = () => true }: UsesQuotaOptions<T> = {},
): MethodDecorator {
  const used: Used = { kind, amount, seconds, replays, spends };
  const interceptor = UseInterceptors(UsesQuotaInterceptor);
  return applyDecorators(
    SetMetadata(USED, used),
    TenantScoped(),
    interceptor,
    ApiHeader(IDEMPOTENCY_KEY),
    MayRefuse(...REFUSALS),
  );
}

@Injectable()
class UsesQuotaInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly quotas: QuotaService,
  ) {}

  /** A promise goes on when an interceptor of the host, such as one for timeouts, does not wait for it any longer. */
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    return defer(() => this.#run(context, next));
  }

  async #run(context: ExecutionContext, next: CallHandler<unknown>): Promise<unknown> {
    const request = requestIn(context);
    const ctx = contextIn(context);
    const { kind, amount, seconds, replays, spends } = this.reflector.get<Used>(USED, context.getHandler());
    const sent = request?.headers['idempotency-key'] as string | undefined;
    const key = sent ?? (request ? requestIdOf(request) : randomUUID());
    const wanted = { key, amount, seconds };
    const outcome = await this.quotas.reserveAgain(ctx, kind, wanted);
    // The id of a request may be the caller's own, and no handler gives the same again to that.
    if (outcome !== 'begun' && !(replays && sent !== undefined)) throw QuotaErrors.RESERVATION_OVER();
    const handle = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    if (outcome === 'over') return handle();
    const commit = async (): Promise<void> => {
      try {
        await this.quotas.commit(ctx, kind, key);
      } catch (error) {
        if (!isOver(error)) throw error;
        // It has run out, or an equal request has ended it: it is spent now, if there still is enough.
        if ((await this.quotas.reserveAgain(ctx, kind, wanted)) !== 'over')
          await this.quotas.commit(ctx, kind, key);
      }
    };
    const release = (): Promise<void> =>
      this.quotas.release(ctx, kind, key).catch((error: unknown) => {
        // What the handler says is told; what cannot be released now runs out by itself.
        if (!(error instanceof Refusal)) throw error;
      });
    try {
      const result = await handle();
      await (spends(result as never) ? commit() : release());
      return result;
    } catch (error) {
      await release();
      throw error;
    }
  }
}

function isOver(error: unknown): boolean {
  return error instanceof Refusal && error.row === QuotaErrors.RESERVATION_OVER.row;
}

/** Stops the start of a host whose handler uses a kind of quota that there is not. */
@Injectable()
export class UsedQuotasCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly kinds: QuotaKinds,
  ) {}

  onModuleInit(): void {
    for (const { mark, where } of decoratedMethods<Used>(this.discovery, USED))
      if (!this.kinds.has(mark.kind))
        throw new Error(
          `Tenantry cannot start: ${where} uses the quota '${mark.kind}', which is not among ` +
            `${this.kinds.names.join(', ')}; add it to quotaKinds.`,
        );
  }
}
