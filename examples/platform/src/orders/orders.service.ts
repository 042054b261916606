import { Injectable } from '@nestjs/common';
import {
  TenantryDept,
  DeptErrors,
  InjectTenantBound,
  OnDomainEvent,
  RequestContext,
  TenantBoundRepository,
  TenantDisabled,
} from 'tenantry';
import { OrderEntity } from './order.entity.js';

export type NewOrder = Pick<OrderEntity, 'deptId' | 'title' | 'amount'>;

@Injectable()
export class OrdersService {
  constructor(@InjectTenantBound(OrderEntity) private readonly orders: TenantBoundRepository<OrderEntity>) {}

  list(ctx: RequestContext): Promise<OrderEntity[]> {
    return this.orders.in(ctx).find({}, { order: { orderId: 'ASC' } });
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
