import type { DataSource } from 'typeorm';
import type { ApiClient, Caller, ThrowAwayDatabase } from '../../src/server/testing';
import { serviceTables } from '../../src/server/service-data-source';
import { ChildService } from './child-service';
import { emptyDatabase } from './test-database';

/** Two processes on one database: nothing in memory can keep them apart. */
export class TwoServices {
  private constructor(
    readonly database: ThrowAwayDatabase,
    readonly services: readonly [ChildService, ChildService],
    readonly dataSource: DataSource,
  ) {}

  static async start(): Promise<TwoServices> {
    const database = await emptyDatabase();
    const first = await ChildService.start(database);
    const second = await ChildService.start(database);
    return new TwoServices(database, [first, second], await database.open(serviceTables));
  }

  /** The same caller at both of them. */
  as(caller?: Caller): [ApiClient, ApiClient] {
    return [this.services[0].as(caller), this.services[1].as(caller)];
  }

  async stop(): Promise<void> {
    const codes = await Promise.all(this.services.map((service) => service.stop()));
    await this.database.drop();
    if (codes.join() !== '0,0') throw new Error(`The services ended with ${codes.join()}.`);
  }
}
