import { DomainEvent } from '../database/domain-events';

/** Something happened to a tenant; `tenantId` is its code, `id` its internal id. */
export abstract class TenantEvent extends DomainEvent {
  constructor(
    tenantId: string,
    by: string,
    readonly id: string,
  ) {
    super(tenantId, by);
  }
}

export class TenantCreated extends TenantEvent {}

/** Its fields were replaced. */
export class TenantUpdated extends TenantEvent {}

/** It stands elsewhere, with all that is below it; what is below has no events of its own. A `TenantUpdated` follows. */
export class TenantMoved extends TenantEvent {
  constructor(
    tenantId: string,
    by: string,
    id: string,
    /** Codes of the parents; only the platform has none, and it never moves. */
    readonly fromParent: string | null,
    readonly toParent: string,
  ) {
    super(tenantId, by, id);
  }
}

/** Its status was set to disabled; a `TenantUpdated` came before. A service period that ends is no event. */
export class TenantDisabled extends TenantEvent {}

/** Its status was set to normal again; a `TenantUpdated` came before. */
export class TenantEnabled extends TenantEvent {}

export class TenantDeleted extends TenantEvent {}

/** It was deleted and lives again, under its old id and code. */
export class TenantRestored extends TenantEvent {}
