import type { EntityManager, FindOptionsWhere } from 'typeorm';
import type { UnitOfWork } from '../database/unit-of-work';
import { fillPage, knownKeys, type KeySource, type Page } from '../web/page';
import { RequestContext } from '../tenancy/request-context';
import type { Key } from '../database/key-range';
import type { ScopedTable } from '../database/scoped-table';
import { below } from '../tree/tree-table';
import { LIVE, matching, parentsAmong, withKeys, type TenantCriteria } from './tenant.conditions';
import type { TenantEntity } from './tenant.entity';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { subtreeOf } from './subtree-of.repository';

const ORDER = ['id'] as const;
/** Up to so many tenants are collected and sorted; beyond, the order's index is walked. */
const FEW = 2000;
/** What a list shows: neither the package nor the rules, which can be long. */
const SHOWN: readonly (keyof TenantEntity)[] = [
  'id',
  'tenantId',
  'tenantName',
  'tenantParent',
  'startTime',
  'endTime',
  'contactUserName',
  'contactPhone',
  'companyName',
  'status',
  'delFlag',
  'accountCount',
];

/** Tenants as one tenant reads them: itself and all below it. */
export class TenantReader {
  readonly #unitOfWork: UnitOfWork;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly ctx: RequestContext,
  ) {
    RequestContext.require(ctx);
    this.#unitOfWork = unitOfWork;
  }

  find(id: string): Promise<TenantEntity | null> {
    return this.#findOne({ id });
  }

  findByCode(tenantId: string): Promise<TenantEntity | null> {
    return this.#findOne({ tenantId });
  }

  /** Of these tenants, the ones that have child tenants. */
  async findParents(codes: readonly string[]): Promise<string[]> {
    if (codes.length === 0) return [];
    return this.#read((tenants) => tenants.distinct('tenantId', parentsAmong(codes)));
  }

  /** A part of the tenants that match on a day, in the order of their ids. */
  async findPage(
    criteria: TenantCriteria,
    today: string,
    after: Key | null,
    limit: number,
  ): Promise<Page<TenantEntity>> {
    const where = matching(criteria, today);
    const rows = {
      at: (keys: readonly Key[]) =>
        this.#read((tenants) =>
          tenants.find({ ...where, ...withKeys(keys.map(([id]) => String(id))) }, { columns: SHOWN }),
        ),
      idOf: ({ id }: TenantEntity) => id,
    };
    return fillPage(await this.#keySource(criteria), rows, after, limit);
  }

  async #keySource({ tenantParent, expiresBefore }: TenantCriteria): Promise<KeySource> {
    const narrow =
      tenantParent === undefined
        ? ((await this.#fewBelow()) ?? (await this.#fewOf(expiresBefore && matching({ expiresBefore }, ''))))
        : null;
    if (narrow) return knownKeys(narrow);
    const where = tenantParent === undefined ? LIVE : { ...LIVE, tenantParent };
    return (after, limit) => this.#read((tenants) => tenants.keys({ where, order: ORDER, after, limit }));
  }

  /** All that the caller reaches, when it is not the platform and they are few. */
  async #fewBelow(): Promise<Key[] | null> {
    const own = this.ctx.tenantId === PLATFORM_TENANT ? null : await this.findByCode(this.ctx.tenantId);
    return own && this.#fewOf([{ ...LIVE, id: own.id }, below<TenantEntity>(own)]);
  }

  async #fewOf(
    where: FindOptionsWhere<TenantEntity> | FindOptionsWhere<TenantEntity>[] | '' | undefined,
  ): Promise<Key[] | null> {
    if (!where) return null;
    return this.#read(async (tenants) =>
      (await tenants.hasMoreThan(FEW, where)) ? null : tenants.keysOf(where, ORDER),
    );
  }

  #findOne(where: FindOptionsWhere<TenantEntity>): Promise<TenantEntity | null> {
    return this.#read((tenants) => tenants.findOne({ ...where, ...LIVE }));
  }

  #read<T>(work: (tenants: ScopedTable<TenantEntity>) => Promise<T>): Promise<T> {
    return this.#unitOfWork.withoutTransaction((manager: EntityManager) =>
      work(subtreeOf(this.ctx, manager)),
    );
  }
}
