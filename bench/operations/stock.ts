import type { DataSource } from 'typeorm';
import {
  addAccounts,
  addSessions,
  addTenants,
  fillTenants,
  highest,
  TENANT_NUMBER,
  tokenFor,
  type Caller,
} from '../support/world';

/** Makes what requests use up: each gives one item for each request, of the caller whose turn it is. */
export class Stock {
  constructor(private readonly dataSource: DataSource) {}

  /** Departments without children. */
  async depts(callers: readonly Caller[], count: number): Promise<number[]> {
    const ids = await this.#ids('dept_id', 'tenantry_dept', count);
    const rows = ids.map(
      (id, at) => `(${id}, ${callers[at % callers.length]?.tenantId ?? ''}, 0, '0', 1, 'x', 0,
      '0', '0', 'seed', CURRENT_TIMESTAMP(3), '')`,
    );
    await this.dataSource.query(
      `INSERT INTO tenantry_dept (dept_id, tenant_id, parent_id, ancestors, depth, dept_name, order_num, status, del_flag,
         create_by, create_time, update_by) VALUES ${rows.join(', ')}`,
    );
    return ids;
  }

  async tenants(callers: readonly Caller[], count: number): Promise<number[]> {
    const ids = await this.#ids(TENANT_NUMBER, 'tenantry_tenant', count);
    await addTenants(this.dataSource, {
      first: ids[0] ?? 0,
      count,
      below: callers.map(({ tenantId }) => tenantId),
    });
    return ids;
  }

  async accounts(callers: readonly Caller[], count: number): Promise<number[]> {
    const ids = await this.#ids('user_id', 'tenantry_account', count);
    await addAccounts(this.dataSource, {
      first: ids[0] ?? 0,
      count,
      of: callers.map(({ tenantId }) => tenantId),
    });
    return ids;
  }

  async refreshTokens(callers: readonly Caller[], count: number): Promise<string[]> {
    return (await this.#sessions(callers, count)).map(({ refreshToken }) => refreshToken);
  }

  /** Access tokens, each of a session of its own. */
  async tokens(callers: readonly Caller[], count: number): Promise<string[]> {
    const sessions = await this.#sessions(callers, count);
    return sessions.map(({ sessionId, tenantId, userId }) => tokenFor({ tenantId, userId, sessionId }));
  }

  /** Tokens for tenants without departments. */
  async emptyTenants(count: number): Promise<string[]> {
    return (await fillTenants(this.dataSource, { tenants: count, depts: 0 })).map(({ token }) => token);
  }

  #sessions(callers: readonly Caller[], count: number): ReturnType<typeof addSessions> {
    const owners = Array.from({ length: count }, (_, at) => callers[at % callers.length]);
    return addSessions(
      this.dataSource,
      owners.filter((owner) => owner !== undefined),
    );
  }

  async #ids(column: string, table: string, count: number): Promise<number[]> {
    const first = (await highest(this.dataSource, column, table)) + 1;
    return Array.from({ length: count }, (_, at) => first + at);
  }
}
