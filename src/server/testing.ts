/** A kit for tests: of a host that embeds Tenantry, or of a client of its REST API. It needs no test framework. */
import { createSecretKey } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DataSource } from 'typeorm';
import type { DataScope } from '../tenancy/data-scope';
import type { Role } from '../tenancy/roles';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { ApiClient, type Exchange } from '../testing/api-client';
import { throwAwayDatabase, type ThrowAwayDatabase } from '../testing/throw-away-database';
import type { Clock } from '../time/clock';
import { loadPart } from '../errors/load-part';
import type * as TokenFile from './auth/token-issuer';
import type * as BootstrapFile from './bootstrap';
import type * as EnvFile from './config/env';
import { loadService } from './load-service';
import type * as LoggerFile from './logging/logger';
import type * as DatabaseFile from './open-database';

export { ApiClient, type Answer, type Exchange, type RefusalBody } from '../testing/api-client';
export { aDept, aTenant, aUser, type SeedTarget } from '../testing/builders';
export {
  throwAwayDatabase,
  type ThrowAwayDatabase,
  type ThrowAwayOptions,
} from '../testing/throw-away-database';

/** What test services sign with. */
export const TEST_SECRET = 'a-secret-for-tests-of-at-least-32-bytes';

const LIFE_SECONDS = 600;

/** Somebody who calls; an administrator of the platform's tenant unless told otherwise. */
export interface Caller {
  readonly tenantId?: string;
  readonly username?: string;
  readonly roles?: readonly Role[];
  /** What it is limited to of what its roles allow; absent: nothing limits it. */
  readonly permissions?: readonly string[];
  /** Of a `dept_admin`: it manages what is below these departments. */
  readonly managedDeptIds?: readonly number[];
  /** Which rows of a host it may touch; absent: all. */
  readonly dataScope?: DataScope;
}

/** A token such as the platform around the service issues, for a caller who has no account here. */
export function mintToken(
  { tenantId = PLATFORM_TENANT, username = 'tester', roles = ['tenant_admin'], ...limits }: Caller = {},
  secret = TEST_SECRET,
): string {
  const load = () => require('./auth/token-issuer') as typeof TokenFile;
  const { signToken } = loadPart('mintToken of tenantry/testing', ['jsonwebtoken'], load);
  const key = createSecretKey(secret, 'utf8');
  const signing = { key, JWT_ISSUER: 'tenantry', JWT_AUDIENCE: 'tenantry' };
  const principal = { subject: `test|${username}`, tenantId, username, roles, ...limits };
  return signToken(principal, signing, LIFE_SECONDS);
}

export interface TestServiceOptions {
  /** Default: a SQLite file of its own. */
  readonly database?: ThrowAwayDatabase;
  /** Settings in the names of the environment; limits are off unless told otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Sees every answer that its clients get; what it throws fails their call. */
  readonly inspect?: (exchange: Exchange) => void;
}

/** Loaded when a service is started: hosts use the rest of the kit without the packages of the service. */
const serviceParts = () => ({
  ...(require('./bootstrap') as typeof BootstrapFile),
  ...(require('./config/env') as typeof EnvFile),
  ...(require('./logging/logger') as typeof LoggerFile),
  ...(require('./open-database') as typeof DatabaseFile),
});

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
  static async start({ clock, inspect, ...options }: TestServiceOptions = {}): Promise<TestService> {
    const database = options.database ?? (await throwAwayDatabase());
    let dataSource: DataSource | undefined;
    try {
      const { createService, createLogger, openDatabase, parseEnv } = loadService(
        'TestService of tenantry/testing',
        serviceParts,
      );
      const env = parseEnv({
        DATABASE_URL: database.url,
        DATA_DIR: database.folder,
        JWT_SECRET: TEST_SECRET,
        ADMIN_PASSWORD: 'admin-password',
        LOG_LEVEL: 'info',
        RATE_LIMIT: 'off',
        ...options.env,
      });
      const log: string[] = [];
      const logger = createLogger(env.LOG_LEVEL, { write: (line) => log.push(line) });
      ({ dataSource } = await openDatabase(env));
      const app = await createService({ env, dataSource, ...(clock && { clock }) }, logger);
      await app.listen(0, '127.0.0.1');
      const anonymous = new ApiClient(await app.getUrl(), {}, inspect);
      return new TestService(app, dataSource, database, anonymous, log);
    } catch (error) {
      await dataSource?.destroy();
      await database.drop();
      throw error;
    }
  }

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
