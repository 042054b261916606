import { BadRequestException, Body, Controller, Param, ParseIntPipe, Post, Put, Req } from '@nestjs/common';
import { Ctx, RequestContext, TenantScoped } from 'tenantry';
import { Open, type StaffRequest } from './staff.guard.js';
import { StaffService } from './staff.service.js';

@Controller()
export class StaffController {
  constructor(private readonly staff: StaffService) {}

  @Open(true)
  @Post('sign-up')
  signUp(@Body() { company, email }: Record<string, unknown>): Promise<{ key: string; tenantId: string }> {
    if (typeof company !== 'string' || typeof email !== 'string')
      throw new BadRequestException('company and email');
    return this.staff.signUp(company, email);
  }

  /** Joins a department of the caller's own tenant. */
  @TenantScoped()
  @Put('me/department/:id')
  join(
    @Ctx() ctx: RequestContext,
    @Req() { staff }: StaffRequest,
    @Param('id', ParseIntPipe) id: number,
  ): Promise<void> {
    return this.staff.join(ctx, staff?.staffId ?? 0, id);
  }
}
