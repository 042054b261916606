import { BadRequestException, Body, Controller, Get, Post } from '@nestjs/common';
import { Ctx, RequestContext, TenantScoped } from 'tenantry';
import type { OrderEntity } from './order.entity.js';
import { OrdersService, type NewOrder } from './orders.service.js';

/** Answers in the platform's own form, without an envelope. */
@TenantScoped()
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  list(@Ctx() ctx: RequestContext): Promise<OrderEntity[]> {
    return this.orders.list(ctx);
  }

  @Get('total')
  async total(@Ctx() ctx: RequestContext): Promise<{ total: number }> {
    return { total: await this.orders.total(ctx) };
  }

  @Post('double')
  async double(@Ctx() ctx: RequestContext): Promise<{ changed: number }> {
    return { changed: await this.orders.double(ctx) };
  }

  @Post()
  async create(
    @Ctx() ctx: RequestContext,
    @Body() body: Record<string, unknown>,
  ): Promise<{ orderId: number | null }> {
    return { orderId: await this.orders.create(ctx, orderIn(body)) };
  }
}

function orderIn({ deptId, title, amount }: Record<string, unknown>): NewOrder {
  if (!Number.isSafeInteger(deptId) || !Number.isSafeInteger(amount) || typeof title !== 'string') {
    throw new BadRequestException('deptId, title and amount');
  }
  return { deptId: Number(deptId), title, amount: Number(amount) };
}
