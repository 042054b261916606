import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import {
  DataScopes,
  TenantryDept,
  DeptErrors,
  InjectTenantBound,
  OnDomainEvent,
  RequestContext,
  TenantBoundRepository,
  TenantDisabled,
} from 'tenantry';
import { DataSource } from 'typeorm';
import { OrderEntity } from './order.entity.js';

export type NewOrder = Pick<OrderEntity, 'deptId' | 'title' | 'amount'>;

@Injectable()
export class OrdersService {
  constructor(
    @InjectTenantBound(OrderEntity) private readonly orders: TenantBoundRepository<OrderEntity>,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly scopes: DataScopes,
  ) {}

  list(ctx: RequestContext): Promise<OrderEntity[]> {
    return this.orders.in(ctx).find({}, { order: { orderId: 'ASC' } });
  }

  /** By a query builder of the platform itself, with the caller's tenant and data scope applied to it. */
  async total(ctx: RequestContext): Promise<number> {
    const sum = this.dataSource.createQueryBuilder(OrderEntity, 'o').select('SUM(o.amount)', 'total');
    const found = await this.scopes
      .apply(ctx, sum, { dept: 'o.deptId' })
      .getRawOne<{ total: string | null }>();
    return Number(found?.total ?? 0);
  }

  async double(ctx: RequestContext): Promise<number> {
    const update = this.dataSource
      .createQueryBuilder()
      .update(OrderEntity)
      .set({ amount: () => 'amount * 2' });
    return (await this.scopes.apply(ctx, update, { dept: 'deptId' }).execute()).affected ?? 0;
  }

  /** In one transaction, so that no one deletes the department between the check and the insert. */
  create(ctx: RequestContext, { deptId, title, amount }: NewOrder): Promise<number | null> {
    return this.orders.transaction(ctx, async (orders, of) => {
      if (!(await of(TenantryDept).exists({ deptId, delFlag: '0' }))) throw DeptErrors.NOT_FOUND();
      return orders.insert({ deptId, title, amount, state: 'open' });
    });
  }

  /** No one of a disabled tenant can work on its orders, so they are put on hold. */
  @OnDomainEvent(TenantDisabled)
  async hold({ tenantId }: TenantDisabled): Promise<void> {
    await this.orders.in(RequestContext.system(tenantId)).update({ state: 'open' }, { state: 'held' });
  }
}
