import type { QuotaBo, CreateTenantDto, RuleBo } from './tenant.dto';
import type { TenantRowDto } from './tenant-list.dto';
import { tenantState } from './tenant-state';
import type { TenantDto, TenantSummaryDto } from './tenant-view.dto';
import { withRevision } from '../web/revision';
import type { QuotaColumns, RuleColumns } from './tenant.columns';
import type { TenantEntity, TenantFields } from './tenant.entity';

/** Of the ten quotas, the ones that no read returns. */
type ExtraQuotas = Pick<QuotaColumns, 'riskReportUsed' | 'zr' | 'credit' | 'pf'>;

/** The extra quotas of a new tenant. */
export const NO_EXTRA_QUOTAS: ExtraQuotas = { riskReportUsed: 0, zr: 0, credit: 0, pf: 0 };

/** The only place where these columns become fields. */
function toTenantSummary(row: TenantEntity): TenantSummaryDto {
  return {
    id: row.id,
    tenantId: row.tenantId,
    tenantName: row.tenantName,
    tenantParent: row.tenantParent,
    startTime: row.startTime,
    endTime: row.endTime,
    contactUserName: row.contactUserName,
    contactPhone: row.contactPhone,
    companyName: row.companyName,
    status: row.status,
    accountCount: row.accountCount,
  };
}

/** The only place where a column becomes a field. */
export function toTenantDto(row: TenantEntity): TenantDto {
  const { quota, rule } = row;
  const dto = Object.assign(toTenantSummary(row), {
    packageBo: { menuIds: row.menuIds },
    quotaBo: {
      enterpriseQuery: quota.enterpriseQuery,
      annualReportQuery: quota.annualReportQuery,
      chainReport: quota.chainReport,
      businessReport: quota.businessReport,
      riskReport: quota.riskReport,
      merchant: quota.merchant,
    },
    ruleBo: {
      modelZr: rule.modelZr,
      modelPf: rule.modelPf,
      modelEd: rule.modelEd,
      catalogZr: rule.catalogZr,
      catalogPf: rule.catalogPf,
      catalogEd: rule.catalogEd,
      catalogRw: rule.catalogRw,
    },
  });
  return withRevision(dto, row.revision);
}

/** A tenant as a client would send it to leave it as it is. */
export function toTenantSent(row: TenantEntity): object {
  const { id: _, tenantId: __, tenantParent: ___, ...sent } = toTenantDto(row);
  return sent;
}

/** The only place where columns become a row of a list. */
export function toTenantRow(row: TenantEntity, today: string, hasChildren: boolean): TenantRowDto {
  return Object.assign(toTenantSummary(row), { state: tenantState(row, today), hasChildren });
}

/** The only place where a field becomes a column; what was not sent becomes its default. */
export function toTenantFields(dto: CreateTenantDto): TenantFields {
  return {
    tenantName: dto.tenantName,
    startTime: dto.startTime ?? null,
    endTime: dto.endTime ?? null,
    contactUserName: dto.contactUserName ?? null,
    contactPhone: dto.contactPhone ?? null,
    companyName: dto.companyName ?? null,
    status: dto.status ?? '0',
    accountCount: dto.accountCount ?? -1,
    menuIds: dto.packageBo?.menuIds ?? '',
    quota: toQuotas(dto.quotaBo ?? {}),
    rule: toRules(dto.ruleBo ?? {}),
  };
}

/** Totals that were not sent are 0; extra quotas that were not sent are left out, and so left alone. */
function toQuotas({ riskReportUsed, zr, credit, pf, ...totals }: QuotaBo): Partial<QuotaColumns> {
  const extras = Object.entries({ riskReportUsed, zr, credit, pf }).filter(([, value]) => value != null);
  return {
    enterpriseQuery: totals.enterpriseQuery ?? 0,
    annualReportQuery: totals.annualReportQuery ?? 0,
    chainReport: totals.chainReport ?? 0,
    businessReport: totals.businessReport ?? 0,
    riskReport: totals.riskReport ?? 0,
    merchant: totals.merchant ?? 0,
    ...(Object.fromEntries(extras) as Partial<ExtraQuotas>),
  };
}

function toRules(rule: RuleBo): RuleColumns {
  return {
    modelZr: rule.modelZr ?? null,
    modelPf: rule.modelPf ?? null,
    modelEd: rule.modelEd ?? null,
    catalogZr: rule.catalogZr ?? null,
    catalogPf: rule.catalogPf ?? null,
    catalogEd: rule.catalogEd ?? null,
    catalogRw: rule.catalogRw ?? null,
  };
}
