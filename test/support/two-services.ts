import type { DataSource } from 'typeorm';
import type { ApiClient, Caller, ThrowAwayDatabase } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from './child-service';
import { isLong } from './long-run';
import { emptyDatabase, onServer } from './test-database';

/** How two processes share a database: each listens by itself, or both are workers behind one port. */
type Pair = 'two services' | 'two workers';

export const PAIRS: readonly Pair[] = isLong && onServer ? ['two services', 'two workers'] : ['two services'];

/** Two processes on one database: nothing in memory can keep them apart. */
export class TwoServices {
  private constructor(
    readonly database: ThrowAwayDatabase,
    readonly services: readonly [ChildService, ChildService],
    readonly dataSource: DataSource,
  ) {}

  static async start(pair: Pair): Promise<TwoServices> {
    const database = await emptyDatabase();
    const first = await ChildService.start(database, pair === 'two workers' ? { WORKERS: '2' } : {});
    const second = pair === 'two workers' ? first : await ChildService.start(database);
    return new TwoServices(database, [first, second], await database.open(serviceTables));
  }

  /** The same caller at both of them; of two workers each takes connections. */
  as(caller?: Caller): [ApiClient, ApiClient] {
    return [this.services[0].as(caller), this.services[1].as(caller)];
  }

  async stop(): Promise<void> {
    const codes = await Promise.all([...new Set(this.services)].map((service) => service.stop()));
    await this.database.drop();
    if (codes.some((code) => code !== 0)) throw new Error(`The services ended with ${codes.join()}.`);
  }
}
