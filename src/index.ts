// The modules, and what a host tells them.
export { DeptModule, DeptServicesModule } from './dept/dept.module';
export type { AnswerForm, Envelope, HttpStatusMode } from './web/envelope';
export type { Authorize } from './web/roles.guard';
export { TenantServicesModule, TenantModule } from './tenant/tenant.module';
export { TenantryModule } from './tenantry.module';
export type { TenantryExtras, TenantryOptions } from './tenantry-options';

// The database.
export {
  entities,
  /** @deprecated `entities` are for every database. */
  entitiesFor,
  migrations,
} from './resources';
export { SqliteDataSource, type SqliteDataSourceOptions } from './database/sqlite/sqlite.data-source';
export {
  TenantryDept,
  /** @deprecated Use `TenantryDept`. */
  TenantryDept as DeptEntity,
} from './dept/dept.entity';
export {
  TenantryTenant,
  /** @deprecated Use `TenantryTenant`. */
  TenantryTenant as TenantEntity,
} from './tenant/tenant.entity';

// Ports.
export { PrincipalResolver, type CallerAnswer } from './tenancy/principal-resolver';
export { Meter, type UnitFault } from './database/meter';
export { Clock } from './time/clock';
export { UserDirectory } from './tenancy/tenant-access';

// Who is calling.
export type { Principal } from './tenancy/principal';
export type { DataScope, DataScopePart } from './tenancy/data-scope';
export { MANAGERS, READERS, ROLES, type Role } from './tenancy/roles';
export { Ctx, RequestContext } from './tenancy/request-context';
export { TenantScoped } from './web/organisation-controller';

// Departments.
export { DeptListService } from './dept/dept-list.service';
export { DataScopes } from './dept/data-scopes.service';
export { DeptService } from './dept/dept.service';
export { DeptHistory, DeptsAt } from './dept/history/dept-history.service';
export {
  DeptDiffDto,
  DeptDiffQuery,
  FieldChangeDto,
  PastDeptListQuery,
  RestoreDeptDto,
} from './dept/history/dept-history.dto';
export { DeptAdoption, type AdoptionReport } from './dept/transfer/dept-adoption.service';
export { toAdoptedDept, type AdoptedDept, type ColumnNames } from './dept/transfer/adoption-plan';
export { DeptTransferService } from './dept/transfer/dept-transfer.service';
export {
  CreateDeptDto,
  DeptDto,
  DeptListQuery,
  DeptNodeDto,
  DeptRowDto,
  DeptTreeDto,
  DeptTreeQuery,
  OrderDeptsDto,
  PatchDeptDto,
  UpdateDeptDto,
} from './dept/dept.dto';
export type { DeptFile } from './dept/transfer/read-file';
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
  RestoreTenantDto,
  RuleBo,
  TenantChangesDto,
  UpdateTenantDto,
} from './tenant/tenant.dto';

// Quotas.
export { QuotaService } from './tenant/quota/quota.service';
export type { QuotaKind } from './tenant/quota/quota-kinds';
export { UsesQuota, type UsesQuotaOptions } from './tenant/quota/uses-quota';
export { QuotaErrors } from './tenant/quota/quota.errors';
export {
  CommitReservationDto,
  QuotaDto,
  QuotaEntryDto,
  RefundQuotaDto,
  ReservationDto,
  ReserveQuotaDto,
  UseQuotaDto,
} from './tenant/quota/quota.dto';

// What a tenant may do.
export { EntitlementService } from './tenant/entitlement/entitlement.service';
export { AccountUseDto, EntitlementDto } from './tenant/entitlement/entitlement.dto';
export { CeilingErrors, EntitlementErrors } from './tenant/entitlement/entitlement.errors';
export { RequireMenu } from './tenant/entitlement/require-menu';
export type { CeilingOptions } from './tenant/ceilings';

// What services take and give beside that.
export { IdempotentRequest, type IdempotencyScope } from './database/idempotent-request';
export { PageQuery } from './web/page-query.dto';
export type { PageView } from './database/page';
export { revisionOf, tagOf, type Expected } from './database/revision';

// Refusals.
export { AuthErrors, PartErrors } from './tenancy/access.errors';
export { DatabaseErrors, IdempotencyErrors } from './database/database.errors';
export { DeptErrors, TransferErrors } from './dept/dept.errors';
export {
  Refusal,
  type ErrorRow,
  type FieldProblem,
  type RefusalDetails,
  type RefusalFactory,
  type RefusalResponse,
} from './errors/refusal';
export { HistoryErrors, HttpErrors, RevisionErrors } from './errors/http.errors';
export { TenantErrors } from './tenancy/tenant.errors';

// The host's own tables.
export {
  InjectTenantBound,
  type OtherRows,
  TenantBoundRepository,
  tenantBoundToken,
} from './resource/tenant-bound.repository';
export type { TenantOwned } from './tenancy/tenant-bound';
export { DataScoped, type DataScopedBy } from './resource/row-scope.conditions';
export type { ScopeColumns } from './resource/apply-scope.conditions';
export type { RowsWanted } from './resource/host-table';
export { TenantRows, type RowConditions } from './resource/tenant-rows.repository';

// One transaction for departments, tenants and the host's own tables.
export { TenantryTransaction, type InUnit, type TenantryUnit } from './tenantry-transaction';

// Checks of the whole database.
export { Doctor, type Diagnosis } from './doctor/doctor';

// The journal.
export { JournalModule, JournalServicesModule } from './changes/journal.module';
export { ChangeFeed, type ChangeOptions } from './changes/change-feed.service';
export { JournalErrors } from './changes/journal.errors';
export type { ChangeKind } from './journal/change-log';
export { WebhookService } from './changes/webhook/webhook.service';
export type { WebhookOptions } from './changes/webhook/webhook-sender';
export {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeliveryDto,
  PatchWebhookDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookSecretDto,
} from './changes/webhook/webhook.dto';
export { WebhookErrors } from './changes/webhook/webhook.errors';
export { OnChange, type OnChangeOptions } from './changes/on-change';
export { ChangeDto } from './web/change.dto';

// What happens.
export {
  DeptCreated,
  DeptDeleted,
  DeptEvent,
  DeptMoved,
  DeptRestored,
  DeptUpdated,
} from './dept/dept.events';
export { DomainEvent, DomainEvents, type EventType, OnDomainEvent } from './database/domain-events';
export {
  TenantCreated,
  TenantDeleted,
  TenantDisabled,
  TenantEnabled,
  TenantEvent,
  TenantMoved,
  TenantRestored,
  TenantUpdated,
} from './tenant/tenant.events';
