import type { DataSource } from 'typeorm';
import { TenantEntity } from '../../tenant/tenant.entity';

/** All tenants, for the operator's command line. */
export class TenantListRepository {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** Each tenant comes after its parent. */
  async findAllLive(): Promise<TenantEntity[]> {
    const rows = await this.#dataSource.manager.find(TenantEntity, { where: { delFlag: '0' } });
    const path = ({ ancestors, tenantId }: TenantEntity) => `${ancestors},${tenantId}`;
    return rows.sort((a, b) => (path(a) < path(b) ? -1 : 1));
  }
}
