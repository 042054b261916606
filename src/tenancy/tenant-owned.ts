/** A row that belongs to one tenant. */
export interface TenantOwned {
  tenantId: string;
}
