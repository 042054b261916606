import { Injectable } from '@nestjs/common';
import { PrincipalResolver, type Principal } from 'tenantry';
import type { StaffRequest } from './staff.guard.js';

/** Tells Tenantry who is calling: the person that the platform's guard has found. */
@Injectable()
export class StaffPrincipals extends PrincipalResolver {
  override resolve(request: StaffRequest): Principal | null {
    const { staff } = request;
    if (!staff) return null;
    const { staffId, tenantId, email, role } = staff;
    return { subject: `staff:${staffId}`, tenantId, username: email, roles: [role] };
  }
}
