import type { Role } from '../../../tenancy/roles';

export interface DemoDept {
  readonly deptName: string;
  readonly leader: string;
  readonly status?: '1';
  readonly children: readonly DemoDept[];
}

export interface DemoAccount {
  readonly username: string;
  readonly nickname: string;
  readonly role: Role;
  /** The name of a department, or none. */
  readonly dept?: string;
}

/** What belongs to a tenant. */
export interface DemoContent {
  /** Of the e-mail addresses. */
  readonly domain: string;
  readonly depts: readonly DemoDept[];
  readonly accounts: readonly DemoAccount[];
  readonly tenants: readonly DemoTenant[];
}

export interface DemoTenant extends DemoContent {
  /** The body of a create request, but for its parent. */
  readonly fields: {
    readonly tenantName: string;
    readonly companyName: string;
    readonly [field: string]: unknown;
  };
}

export const dept = (deptName: string, leader: string, ...children: DemoDept[]): DemoDept => ({
  deptName,
  leader,
  children,
});
export const disabledDept = (deptName: string, leader: string): DemoDept => ({
  ...dept(deptName, leader),
  status: '1',
});
export const account = (role: Role, username: string, nickname: string, inDept?: string): DemoAccount => ({
  ...{ role, username, nickname },
  ...(inDept !== undefined && { dept: inDept }),
});
