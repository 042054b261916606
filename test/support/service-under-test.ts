import { createSecretKey } from 'node:crypto';
import { Writable } from 'node:stream';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DataSource } from 'typeorm';
import type { Role } from '../../src/auth/roles';
import { signToken } from '../../src/auth/sign-token';
import { jwtSettings } from '../../src/config/jwt-settings';
import { parseEnv } from '../../src/config/env';
import { openDatabase } from '../../src/database/open-database';
import { createLogger } from '../../src/logging/logger';
import { createService } from '../../src/service';
import type { Clock } from '../../src/time/clock';
import { ApiClient } from './api-client';
import { checkConformance } from './conformance';
import { emptyDatabase, type TestDatabase } from './test-database';

export const SECRET = 'a-secret-for-tests-of-at-least-32-bytes';
export const JWT = {
  key: createSecretKey(SECRET, 'utf8'),
  issuer: 'tenantry',
  audience: 'tenantry',
  local: true,
  outside: null,
};

/** Tokens, hashes, and every password and key that tests use. */
const SECRETS = new RegExp(
  `eyJ[\\w-]{9,}\\.eyJ|\\$argon2|a-long-password|admin-password|wrong-password|${SECRET}`,
);

export interface Caller {
  readonly tenantId?: string;
  readonly username?: string;
  readonly roles?: readonly Role[];
}

/** A token for a caller; an administrator of the platform's tenant unless told otherwise. */
export function tokenFor({
  tenantId = '000000',
  username = 'tester',
  roles = ['tenant_admin'],
}: Caller = {}): string {
  return signToken({ subject: `test|${username}`, tenantId, username, roles }, JWT, 600);
}

/** The whole service in this process, on an empty database, listening on loopback. */
export class ServiceUnderTest {
  private constructor(
    readonly app: NestExpressApplication,
    readonly dataSource: DataSource,
    readonly database: TestDatabase,
    readonly anonymous: ApiClient,
    readonly log: string[],
  ) {}

  static async start(env: Record<string, string> = {}, clock?: Clock): Promise<ServiceUnderTest> {
    const database = await emptyDatabase();
    return ServiceUnderTest.on(database, env, clock);
  }

  static async on(
    database: TestDatabase,
    env: Record<string, string> = {},
    clock?: Clock,
  ): Promise<ServiceUnderTest> {
    const parsed = parseEnv({
      DATABASE_URL: database.url,
      DATA_DIR: database.folder,
      JWT_SECRET: SECRET,
      ADMIN_PASSWORD: 'admin-password',
      LOG_LEVEL: 'info',
      RATE_LIMIT: 'off',
      ...env,
    });
    const log: string[] = [];
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        log.push(chunk.toString());
        done();
      },
    });
    const { dataSource } = await openDatabase(parsed);
    const logger = createLogger(parsed.LOG_LEVEL, sink);
    const app = await createService(
      { env: parsed, jwt: jwtSettings(parsed), dataSource, ...(clock && { clock }) },
      logger,
    );
    await app.listen(0, '127.0.0.1');
    return new ServiceUnderTest(
      app,
      dataSource,
      database,
      new ApiClient(await app.getUrl(), {}, checkConformance),
      log,
    );
  }

  as(caller: Caller = {}): ApiClient {
    return this.anonymous.as(tokenFor(caller));
  }

  /** Ends the service and leaves its database to others. Whatever it did, its log must have kept silent. */
  async leave(): Promise<void> {
    this.anonymous.close();
    await this.app.close();
    const leaked = this.log.find((line) => SECRETS.test(line));
    if (leaked !== undefined) throw new Error(`A secret is in the log: ${leaked}`);
  }

  async stop(): Promise<void> {
    await this.leave();
    await this.database.drop();
  }
}
