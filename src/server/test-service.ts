import { Writable } from 'node:stream';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DataSource } from 'typeorm';
import { parseEnv } from './config/env';
import { jwtSettings } from './config/jwt-settings';
import { openDatabase } from './open-database';
import { createLogger } from './logging/logger';
import { createService } from './bootstrap';
import type { Clock } from '../time/clock';
import { ApiClient, type Exchange } from '../testing/api-client';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../testing/throw-away-database';
import { mintToken, TEST_SECRET, type Caller } from './test-tokens';

export interface TestServiceOptions {
  /** Default: a SQLite file of its own. */
  readonly database?: ThrowAwayDatabase;
  /** Settings in the names of the environment; limits are off unless told otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Sees every answer that its clients get; what it throws fails their call. */
  readonly inspect?: (exchange: Exchange) => void;
}

/** The whole service in this process, listening on loopback, with `admin` / `admin-password` as its first account. */
export class TestService {
  private constructor(
    readonly app: NestExpressApplication,
    readonly dataSource: DataSource,
    readonly database: ThrowAwayDatabase,
    /** A client without a token. */
    readonly anonymous: ApiClient,
    /** The lines of its log. */
    readonly log: readonly string[],
  ) {}

  /** Starts it. What fails here leaves no database behind, not even one that was handed in. */
  static async start(options: TestServiceOptions = {}): Promise<TestService> {
    const database = options.database ?? (await throwAwayDatabase());
    try {
      return await TestService.#on(database, options);
    } catch (error) {
      await database.drop();
      throw error;
    }
  }

  static async #on(
    database: ThrowAwayDatabase,
    { clock, inspect, env: settings }: TestServiceOptions,
  ): Promise<TestService> {
    const env = parseEnv({
      DATABASE_URL: database.url,
      DATA_DIR: database.folder,
      JWT_SECRET: TEST_SECRET,
      ADMIN_PASSWORD: 'admin-password',
      LOG_LEVEL: 'info',
      RATE_LIMIT: 'off',
      ...settings,
    });
    const log: string[] = [];
    const logger = createLogger(env.LOG_LEVEL, linesInto(log));
    const { dataSource } = await openDatabase(env);
    try {
      const parts = { env, jwt: jwtSettings(env), dataSource, ...(clock && { clock }) };
      const app = await createService(parts, logger);
      await app.listen(0, '127.0.0.1');
      const anonymous = new ApiClient(await app.getUrl(), {}, inspect);
      return new TestService(app, dataSource, database, anonymous, log);
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  }

  /** A client with a token for this caller. */
  as(caller: Caller = {}): ApiClient {
    return this.anonymous.as(mintToken(caller));
  }

  /** Ends the service and leaves its database to others. */
  async leave(): Promise<void> {
    this.anonymous.close();
    await this.app.close();
  }

  async stop(): Promise<void> {
    await this.leave();
    await this.database.drop();
  }
}

function linesInto(log: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.push(chunk.toString());
      done();
    },
  });
}
