import { Injectable } from '@nestjs/common';
import {
  DeptEntity,
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

  /** In one transaction, so that the department cannot be deleted between the check and the order. */
  create(ctx: RequestContext, { deptId, title, amount }: NewOrder): Promise<number | null> {
    return this.orders.transaction(ctx, async (orders, of) => {
      if (!(await of(DeptEntity).exists({ deptId, delFlag: '0' }))) throw DeptErrors.NOT_FOUND();
      return orders.insert({ deptId, title, amount, state: 'open' });
    });
  }

  /** Without a department no one can work on them, so they wait. */
  @OnDomainEvent(TenantDisabled)
  async hold({ tenantId }: TenantDisabled): Promise<void> {
    await this.orders.in(RequestContext.system(tenantId)).update({ state: 'open' }, { state: 'held' });
  }
}
