import { Injectable } from '@nestjs/common';
import {
  And,
  IsNull,
  LessThan,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Not,
  Or,
  type FindOperator,
  type FindOptionsWhere,
} from 'typeorm';
import { contains } from '../database/columns';
import type { IdempotentRequest } from '../database/idempotent-request';
import { ScopedTable, type Connections, type FindOptions, type Key } from '../database/scoped-table';
import { UnitOfWork } from '../database/unit-of-work';
import { RequestContext } from '../tenancy/request-context';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { goneTenant, UserDirectory } from '../tenancy/tenant-access';
import { raiseTreeVersion } from '../journal/tree-lock';
import { TenantErrors } from '../tenancy/tenant.errors';
import { Clock } from '../time/clock';
import { below } from '../database/tree-table';
import { cutPage, type Page } from '../database/page';
import { LIVE, LockedTenantTree, subtreeOf } from './locked-tenant-tree';
import type { LiveState, TenantFacts } from './tenant-state';
import { TENANT_LISTED, TenantryTenant, type TenantListRow } from './tenant.entity';

type Where = FindOptionsWhere<TenantryTenant>;

const FACTS = ['ancestors', 'status', 'delFlag', 'startTime', 'endTime'] as const;

/** Which tenants are looked for; what is absent does not matter. */
export interface TenantCriteria {
  readonly tenantId?: string | undefined;
  readonly tenantParent?: string | undefined;
  /** A part of the name, to the byte. */
  readonly tenantName?: string | undefined;
  readonly state?: LiveState | undefined;
  readonly expiresBefore?: string | undefined;
}

/** A tenant of a list; 0 or 1 is what every database has. MySQL computes it as a BIGINT, which comes as text. */
export type ListedTenant = TenantListRow & { readonly hasChildren: number | string };

const PACKAGE = ['tenantName', 'menuIds'] as const;
const HAS_CHILDREN = `COALESCE((SELECT 1 FROM :table child:ix_tenant_children WHERE child.del_flag = '0'
  AND child.tenant_parent = t.tenant_id ORDER BY child.id LIMIT 1), 0) AS "hasChildren"`;

/** The door to the tenants: each tenant reaches itself and what is below it. */
@Injectable()
export class TenantRepository {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly users: UserDirectory,
    private readonly clock: Clock,
  ) {
    this.#unitOfWork = unitOfWork;
  }

  /** What decides whether any tenant is served, before there is a context to look from. */
  async findFacts(tenantId: string): Promise<(TenantFacts & Pick<TenantryTenant, 'ancestors'>) | null> {
    const tenants = new ScopedTable(this.#unitOfWork.connections(), TenantryTenant);
    const [facts] = await tenants.pick({ tenantId }, FACTS);
    return facts ?? null;
  }

  in(ctx: RequestContext): TenantReader {
    return new TenantReader(this.#unitOfWork, this.users, ctx);
  }

  /**
   * Runs `work` while no other unit changes the tree of tenants; it may run again after a conflict. The whole tree
   * has one lock, the platform's row: two moves far apart can form a cycle only together.
   */
  async transaction<T>(
    ctx: RequestContext,
    work: (tree: LockedTenantTree) => Promise<T>,
    once?: IdempotentRequest,
  ): Promise<T> {
    RequestContext.require(ctx);
    return this.#unitOfWork.runIn(
      ctx.unit,
      PLATFORM_TENANT,
      async (unit) => {
        await raiseTreeVersion(unit, PLATFORM_TENANT);
        const own = { tenantId: ctx.tenantId, delFlag: '0' };
        if (!(await new ScopedTable(unit.manager, TenantryTenant).exists(own))) {
          throw goneTenant(ctx.tenantId, ctx.callerTenantId);
        }
      },
      (unit) => work(new LockedTenantTree(unit, ctx, this.clock.now())),
      once,
    );
  }
}

/** Tenants as one tenant reads them: itself and all below it. */
class TenantReader {
  readonly #connections: Connections;
  readonly #tenants: ScopedTable<TenantryTenant>;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly users: UserDirectory,
    private readonly ctx: RequestContext,
  ) {
    RequestContext.require(ctx);
    this.#connections = unitOfWork.connections(ctx.unit);
    this.#tenants = subtreeOf(ctx, this.#connections);
  }

  find(id: string): Promise<TenantryTenant | null> {
    return this.#tenants.findOne({ id, ...LIVE });
  }

  findByCode(tenantId: string): Promise<TenantryTenant | null> {
    return this.#tenants.findOne({ tenantId, ...LIVE });
  }

  /** The tenant of this id; refuses when there is none. */
  async get(id: string): Promise<TenantryTenant> {
    const tenant = await this.find(id);
    if (!tenant) throw TenantErrors.NOT_FOUND();
    return tenant;
  }

  /** The tenant that the context acts in; refuses when it is deleted. */
  async getOwn(): Promise<TenantryTenant> {
    const { tenantId, callerTenantId } = this.ctx;
    const tenant = await this.findByCode(tenantId);
    if (!tenant) throw goneTenant(tenantId, callerTenantId);
    return tenant;
  }

  /** Whether there is such a tenant, deleted or not. */
  everHad(id: string): Promise<boolean> {
    return this.#tenants.exists({ id });
  }

  async findOwnPackage(): Promise<Pick<TenantryTenant, 'tenantName' | 'menuIds'> | null> {
    const own = { tenantId: this.ctx.tenantId, ...LIVE };
    const [found] = await this.#tenants.pick(own, PACKAGE);
    return found ?? null;
  }

  /** Users of the caller's own tenant, as far as the directory counts them. */
  countOwnUsers(): Promise<number> {
    return this.#connections.run(async (manager) => (await this.users.countUsers?.(this.ctx, manager)) ?? 0);
  }

  /** A part of the tenants that match on a day, in the order of their ids. */
  async findPage(
    criteria: TenantCriteria,
    today: string,
    after: Key | null,
    limit: number,
  ): Promise<Page<ListedTenant>> {
    const matches = matching(criteria, today);
    const own = await this.#ownOfSmaller(criteria);
    // The range of paths lets the database read the caller's subtree alone.
    const where = own
      ? [
          { ...matches, tenantId: own.tenantId },
          { ...matches, ...below<TenantryTenant>(own) },
        ]
      : matches;
    const options: FindOptions<TenantryTenant> = { order: { id: 'ASC' }, after, limit: limit + 1 };
    const rows = await this.#tenants.pickWith<
      (typeof TENANT_LISTED)[number],
      Pick<ListedTenant, 'hasChildren'>
    >(where, TENANT_LISTED, HAS_CHILDREN, options);
    return cutPage(rows, limit, ({ id }) => [id]);
  }

  /** The caller's own tenant, where its subtree is what is listed. */
  async #ownOfSmaller({ tenantId: code, tenantParent }: TenantCriteria): Promise<TenantryTenant | null> {
    const { tenantId } = this.ctx;
    const isByKey = code !== undefined || tenantParent !== undefined;
    return isByKey || tenantId === PLATFORM_TENANT ? null : this.findByCode(tenantId);
  }
}

/** Every criterion as a condition, on a day. */
function matching(criteria: TenantCriteria, today: string): Where {
  const { tenantId, tenantParent, tenantName, state, expiresBefore } = criteria;
  const { endTime, ...byState } = state ? inState(state, today) : { endTime: undefined };
  const ends = [endTime, expiresBefore === undefined ? undefined : LessThan(expiresBefore)];
  const wanted = ends.filter((condition) => condition !== undefined);
  return {
    ...LIVE,
    ...byState,
    ...(wanted.length > 0 && { endTime: And(...wanted) }),
    ...(tenantId !== undefined && { tenantId }),
    ...(tenantParent !== undefined && { tenantParent }),
    ...(tenantName !== undefined && { tenantName: contains(tenantName) }),
  };
}

/** What `tenantState` says of one tenant, as conditions on many. An end is never before the start. */
function inState(state: LiveState, today: string): Where & { endTime?: FindOperator<string> } {
  switch (state) {
    case 'DISABLED':
      return { status: Not('0') };
    case 'NOT_STARTED':
      return { status: '0', startTime: MoreThan(today) };
    case 'EXPIRED':
      return { status: '0', endTime: LessThan(today) };
    case 'ACTIVE':
      return {
        status: '0',
        startTime: Or(IsNull(), LessThanOrEqual(today)),
        endTime: Or(IsNull() as FindOperator<string>, MoreThanOrEqual(today)),
      };
  }
}
