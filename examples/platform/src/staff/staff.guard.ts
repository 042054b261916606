import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { StaffEntity } from './staff.entity.js';
import { StaffService } from './staff.service.js';

/** Marks a route that needs no key. */
export const Open = Reflector.createDecorator<true>();

export interface StaffRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  staff?: StaffEntity;
}

/** The platform's own guard, for its own routes and for those of Tenantry. */
@Injectable()
export class StaffGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly staff: StaffService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(Open, [context.getHandler(), context.getClass()])) return true;
    const request = context.switchToHttp().getRequest<StaffRequest>();
    const key = request.headers['x-api-key'];
    const staff = typeof key === 'string' ? await this.staff.findByKey(key) : null;
    if (!staff) throw new UnauthorizedException('Send your key as X-Api-Key');
    request.staff = staff;
    return true;
  }
}
