import type { JournalFields } from '../journal/change-log';
import { CONTRACT_QUOTAS } from './quota/quota-kinds';
import { withRevision } from '../database/revision';
import { namesOf, pick, withDefaults } from '../resource/fields';
import { tenantState } from './tenant-state';
import type { TenantDto, TenantRowDto } from './tenant-view.dto';
import type { CreateTenantDto } from './tenant.dto';
import {
  QUOTA_DEFAULTS,
  RULE_DEFAULTS,
  SUMMARY_COLUMNS,
  TENANT_DEFAULTS,
  type QuotaColumns,
  type TenantryTenant,
  type TenantFields,
  type TenantListRow,
} from './tenant.entity';

/** The only place where columns of a tenant become fields, and fields become columns. */

const RULES = namesOf(RULE_DEFAULTS);

export function toTenantDto(row: TenantryTenant): TenantDto {
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

type Viewed = Pick<TenantryTenant, (typeof SUMMARY_COLUMNS)[number] | 'menuIds' | 'quota' | 'rule'>;

/** What the journal records of a tenant. */
export function toTenantJournal(row: Viewed): JournalFields {
  const { id: _, ...fields } = toTenantView(row);
  return fields;
}

/** A tenant as a client would send it to leave it as it is. */
export function toTenantSent(row: TenantryTenant): object {
  const { id: _, tenantId: __, tenantParent: ___, ...sent } = toTenantDto(row);
  return sent;
}

export function toTenantRow(row: TenantListRow, today: string, hasChildren: boolean): TenantRowDto {
  return Object.assign(pick(row, SUMMARY_COLUMNS), { state: tenantState(row, today), hasChildren });
}

/** What was not sent becomes its default; extra quotas, which no read returns, stay as they were. */
export function toTenantFields(dto: CreateTenantDto, before: QuotaColumns = QUOTA_DEFAULTS): TenantFields {
  const { tenantName, packageBo, quotaBo, ruleBo } = dto;
  const totals = pick(QUOTA_DEFAULTS, CONTRACT_QUOTAS);
  return {
    tenantName,
    ...withDefaults(dto, TENANT_DEFAULTS),
    menuIds: packageBo?.menuIds ?? '',
    quota: withDefaults(quotaBo ?? {}, Object.assign({}, before, totals)),
    rule: withDefaults(ruleBo ?? {}, RULE_DEFAULTS),
  };
}
