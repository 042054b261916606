import type { DataSourceOptions } from 'typeorm';
import { ChangeEntity } from './journal/change-log';
import { CommitRecord } from './database/commit-log';
import { describeColumnsFor } from './database/entity-columns';
import { DeptEntity } from './dept/dept.entity';
import { DeliveryEntity, LeaseEntity, PositionEntity, WebhookEntity } from './changes/subscription.entity';
import { QuotaEntity, QuotaEntryEntity, ReservationEntity } from './tenant/quota/quota.entity';
import { TenantEntity } from './tenant/tenant.entity';

/** Every entity of the library; a host on MySQL, MariaDB or SQLite adds them to its own DataSource. */
export const entities = [
  TenantEntity,
  DeptEntity,
  CommitRecord,
  ChangeEntity,
  WebhookEntity,
  DeliveryEntity,
  PositionEntity,
  LeaseEntity,
  QuotaEntity,
  QuotaEntryEntity,
  ReservationEntity,
];

/** The same entities for a DataSource of any type that the library works on: PostgreSQL has other types of columns. */
export function entitiesFor(type: DataSourceOptions['type']): typeof entities {
  describeColumnsFor(type, entities);
  return entities;
}
