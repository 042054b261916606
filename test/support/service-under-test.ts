import { createSecretKey } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DataSource } from 'typeorm';
import type { Clock } from '../../src/time/clock';
import {
  TEST_SECRET,
  TestService,
  type ApiClient,
  type Caller,
  type Exchange,
  type ThrowAwayDatabase,
} from '../../src/server/testing';
import { checkConformance } from './conformance';
import { emptyDatabase } from './test-database';

export const JWT = {
  key: createSecretKey(TEST_SECRET, 'utf8'),
  JWT_ISSUER: 'tenantry',
  JWT_AUDIENCE: 'tenantry',
};

/** On a busy machine nobody is refused for having waited; tests of that limit set their own. */
export const ROOMY = { MAX_WAIT_MS: '60000' };

/** Tokens, keys, hashes, and every password that tests use. */
const SECRETS = new RegExp(
  `eyJ[\\w-]{9,}\\.eyJ|tnt_[\\w-]{20}|\\$argon2|a-long-password|admin-password|wrong-password|${TEST_SECRET}`,
);

type Settings = Record<string, string>;

/** The service of the kit, on the database of this run, with every answer held against the OpenAPI document. */
export class ServiceUnderTest {
  private constructor(private started?: TestService) {}

  /** Starts a service for the tests of the surrounding block, and stops it after them. */
  static use(env: Settings = {}, clock?: Clock): ServiceUnderTest {
    const service = new ServiceUnderTest();
    beforeAll(async () => service.#start(await emptyDatabase(), env, clock));
    afterAll(() => service.stop());
    return service;
  }

  static async start(env: Settings = {}, clock?: Clock): Promise<ServiceUnderTest> {
    return ServiceUnderTest.on(await emptyDatabase(), env, clock);
  }

  static on(database: ThrowAwayDatabase, env: Settings = {}, clock?: Clock): Promise<ServiceUnderTest> {
    return new ServiceUnderTest().#start(database, env, clock);
  }

  async #start(database: ThrowAwayDatabase, env: Settings, clock?: Clock): Promise<this> {
    const alwaysOk = env.HTTP_STATUS_MODE === 'always-200';
    const inspect = (exchange: Exchange) => {
      checkConformance(exchange, alwaysOk);
    };
    const options = { database, env: { ...ROOMY, ...env }, inspect, ...(clock && { clock }) };
    this.started = await TestService.start(options);
    return this;
  }

  get #service(): TestService {
    if (!this.started) throw new Error('The service has not started yet.');
    return this.started;
  }

  get app(): NestExpressApplication {
    return this.#service.app;
  }

  get dataSource(): DataSource {
    return this.#service.dataSource;
  }

  get database(): ThrowAwayDatabase {
    return this.#service.database;
  }

  get anonymous(): ApiClient {
    return this.#service.anonymous;
  }

  get log(): readonly string[] {
    return this.#service.log;
  }

  as(caller: Caller = {}): ApiClient {
    return this.#service.as(caller);
  }

  /** Ends the service and leaves its database to others. Its log must hold no secret. */
  async leave(): Promise<void> {
    await this.#service.leave();
    const leaked = this.log.find((line) => SECRETS.test(line));
    if (leaked !== undefined) throw new Error(`A secret is in the log: ${leaked}`);
  }

  async stop(): Promise<void> {
    await this.leave();
    await this.database.drop();
  }
}
