// The modules, and what a host tells them.
export { DeptServicesModule } from './dept/dept-services.module';
export { DeptModule } from './dept/dept.module';
export type { HttpStatusMode } from './web/envelope';
export { TenantServicesModule, TenantModule } from './tenant/tenant.module';
export { TenantryModule, type TenantryExtras, type TenantryOptions } from './tenantry.module';

// The database.
export { entities } from './data-source';
export { migrations } from './database/migrations/index';
export { SqliteDataSource, type SqliteDataSourceOptions } from './database/sqlite/sqlite.data-source';
export { DeptEntity } from './dept/dept.entity';
export { TenantEntity } from './tenant/tenant.entity';
export { AccountEntity } from './tenant/account.entity';

// Ports.
export { PrincipalResolver, type CallerAnswer } from './tenancy/principal-resolver';
export { Meter, type UnitFault } from './database/meter';
export { Clock } from './time/clock';
export { UserDirectory } from './tenancy/user-directory';

// Who is calling.
export type { Principal } from './tenancy/principal';
export { MANAGERS, READERS, ROLES, type Role } from './tenancy/roles';
export { Ctx } from './tenancy/ctx.decorator';
export { RequestContext } from './tenancy/request-context';
export { TenantScoped } from './web/organisation-controller';

// Departments.
export { DeptListService } from './dept/dept-list.service';
export { DeptService } from './dept/dept.service';
export { DeptTransferService } from './dept/transfer/dept-transfer.service';
export {
  DeptListQuery,
  DeptNodeDto,
  DeptRowDto,
  DeptTreeDto,
  DeptTreeQuery,
  OrderDeptsDto,
} from './dept/dept-list.dto';
export { CreateDeptDto, DeptDto, PatchDeptDto, UpdateDeptDto } from './dept/dept.dto';
export type { DeptFile } from './dept/transfer/dept-file.decorator';
export { ImportReportDto, LineFateDto } from './dept/transfer/dept-transfer.dto';
export { FORMATS, type ExportedDept, type FileFormat } from './dept/transfer/file-format';

// Tenants.
export { TenantListService, TenantService } from './tenant/tenant.service';
export {
  TenantListQuery,
  TenantRowDto,
  PackageView,
  QuotaView,
  RuleView,
  TenantDto,
  TenantSummaryDto,
} from './tenant/tenant-view.dto';
export type { TenantState } from './tenant/tenant-state';
export {
  CreateTenantDto,
  PackageBo,
  QuotaBo,
  RuleBo,
  TenantChangesDto,
  UpdateTenantDto,
} from './tenant/tenant.dto';

// What services take and give beside that.
export { IdempotentRequest, type IdempotencyScope } from './database/idempotent-request';
export { PageQuery } from './web/page-query.dto';
export type { PageView } from './web/page';
export { revisionOf, tagOf, type Expected } from './web/revision';

// Refusals.
export { AuthErrors } from './tenancy/access.errors';
export { DatabaseErrors } from './database/database.errors';
export { IdempotencyErrors } from './database/idempotency.errors';
export { DeptErrors } from './dept/dept.errors';
export { TransferErrors } from './dept/transfer/transfer.errors';
export {
  Refusal,
  type ErrorRow,
  type FieldProblem,
  type RefusalDetails,
  type RefusalFactory,
  type RefusalResponse,
} from './errors/refusal';
export { HttpErrors, RevisionErrors } from './errors/http.errors';
export { TenantErrors } from './tenancy/tenant.errors';

// The host's own tables.
export { InjectTenantBound, tenantBoundToken } from './tenancy/tenant-bound.module';
export { TenantBoundRepository, type OtherRows } from './tenancy/tenant-bound.repository';
export type { TenantOwned } from './tenancy/tenant-owned';
export { TenantRows, type RowConditions, type RowsWanted } from './tenancy/tenant-rows.repository';

// What happens.
export { DeptCreated, DeptDeleted, DeptEvent, DeptMoved, DeptUpdated } from './dept/dept.events';
export { DomainEvent, type EventType } from './database/domain-event';
export { DomainEvents } from './database/domain-events';
export { OnDomainEvent } from './database/on-domain-event.decorator';
export {
  TenantCreated,
  TenantDeleted,
  TenantDisabled,
  TenantEnabled,
  TenantEvent,
  TenantMoved,
  TenantUpdated,
} from './tenant/tenant.events';
