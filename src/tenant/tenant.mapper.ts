import type { JournalFields } from '../journal/change-log';
import { CONTRACT_QUOTAS } from './quota/quota-kinds';
import { withRevision } from '../database/revision';
import { tenantState } from './tenant-state';
import type { TenantDto, TenantRowDto } from './tenant-view.dto';
import type { CreateTenantDto } from './tenant.dto';
import {
  SUMMARY_COLUMNS,
  type QuotaColumns,
  type TenantEntity,
  type TenantFields,
  type TenantListRow,
} from './tenant.entity';

/** The only place where columns of a tenant become fields, and fields become columns. */

const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'] as const;
/** Of the ten quotas, the ones that no read returns, as a new tenant has them. */
export const NO_EXTRA_QUOTAS = { riskReportUsed: 0, zr: 0, credit: 0, pf: 0 };

export function toTenantDto(row: TenantEntity): TenantDto {
  return withRevision(toTenantView(row), row.revision);
}

function toTenantView(row: Viewed): TenantDto {
  return {
    ...pick(row, SUMMARY_COLUMNS),
    packageBo: { menuIds: row.menuIds },
    quotaBo: pick(row.quota, CONTRACT_QUOTAS),
    ruleBo: pick(row.rule, RULES),
  };
}

type Viewed = Pick<TenantEntity, (typeof SUMMARY_COLUMNS)[number] | 'menuIds' | 'quota' | 'rule'>;

/** What the journal records of a tenant. */
export function toTenantJournal(row: Viewed): JournalFields {
  const { id: _, ...fields } = toTenantView(row);
  return fields;
}

/** A tenant as a client would send it to leave it as it is. */
export function toTenantSent(row: TenantEntity): object {
  const { id: _, tenantId: __, tenantParent: ___, ...sent } = toTenantDto(row);
  return sent;
}

export function toTenantRow(row: TenantListRow, today: string, hasChildren: boolean): TenantRowDto {
  return Object.assign(pick(row, SUMMARY_COLUMNS), { state: tenantState(row, today), hasChildren });
}

/** What was not sent becomes its default. */
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
    quota: { ...sentExtras(dto), ...pick(dto.quotaBo ?? {}, CONTRACT_QUOTAS, 0) },
    rule: pick(dto.ruleBo ?? {}, RULES, null),
  };
}

/** Extra quotas that were not sent are left out, and so left alone. */
function sentExtras({ quotaBo }: CreateTenantDto): Partial<QuotaColumns> {
  const names = Object.keys(NO_EXTRA_QUOTAS) as (keyof typeof NO_EXTRA_QUOTAS)[];
  return pick(
    quotaBo ?? {},
    names.filter((name) => quotaBo?.[name] != null),
    0,
  );
}

function pick<T, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K>;
function pick<T, K extends keyof T, D>(
  from: T,
  keys: readonly K[],
  missing: D,
): Record<K, NonNullable<T[K]> | D>;
function pick(from: Record<string, unknown>, keys: readonly string[], missing: unknown = null): object {
  const picked: Record<string, unknown> = {};
  for (const key of keys) picked[key] = from[key] ?? missing;
  return picked;
}
