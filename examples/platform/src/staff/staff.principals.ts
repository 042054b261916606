import { Injectable } from '@nestjs/common';
import { PrincipalResolver, type Principal } from 'tenantry';
import type { StaffRequest } from './staff.guard.js';

/** Tells Tenantry who is calling: the person that the platform's guard has found. */
@Injectable()
export class StaffPrincipals extends PrincipalResolver {
  override resolve(request: StaffRequest): Principal | null {
    const { staff } = request;
    if (!staff) return null;
    const { staffId, tenantId, email, role, deptId } = staff;
    const who = { subject: `staff:${staffId}`, tenantId, username: email, roles: [role] };
    // Who works in a department sees its orders, and those of the departments below it.
    return deptId === null ? who : { ...who, dataScope: [{ kind: 'depts', deptIds: [deptId], below: true }] };
  }
}
