import { DomainEvent } from '../database/domain-events';

export abstract class DeptEvent extends DomainEvent {
  constructor(
    tenantId: string,
    by: string,
    readonly deptId: number,
  ) {
    super(tenantId, by);
  }
}

export class DeptCreated extends DeptEvent {}

/** Its fields were replaced, or its number among its siblings. */
export class DeptUpdated extends DeptEvent {}

/** It stands elsewhere, with all that is below it; what is below has no events of its own. A `DeptUpdated` follows. */
export class DeptMoved extends DeptEvent {
  constructor(
    tenantId: string,
    by: string,
    deptId: number,
    /** 0 is the top level. */
    readonly fromParentId: number,
    readonly toParentId: number,
  ) {
    super(tenantId, by, deptId);
  }
}

export class DeptDeleted extends DeptEvent {}

/** It was deleted and lives again, under its old id. */
export class DeptRestored extends DeptEvent {}
