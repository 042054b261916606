import type { ServiceParts } from '../../app.module';
import { describeDatabase } from '../../../database/database-url';
import { loadEnv } from '../../config/env';
import { openDatabase } from '../../open-database';
import { withMigrationLock } from '../../../database/migration-lock';
import { adminLines } from '../../bootstrap';
import { generatePassword } from '../../account/first-admin';
import { print } from '../print';
import { UsageError } from '../values';
import { sayWaiting, withExistingDatabase } from '../with-database';
import { withServices } from '../with-services';
import { DemoBuilder } from './demo-builder';
import { report } from './demo-report';
import { findContent } from './demo.repository';

type Database = Pick<ServiceParts, 'dataSource' | 'env'>;

/** Fills an empty database with an example organisation, and prints who can sign in. */
export async function demoCommand({ password }: { readonly password?: string }): Promise<number> {
  if (password !== undefined && (password.length < 8 || password.length > 128))
    throw new UsageError('--password must be 8 to 128 characters long.');
  const env = loadEnv();
  if (env.LOCAL_ACCOUNTS === 'off')
    throw new Error('LOCAL_ACCOUNTS is off: the accounts of the demo could not sign in.');
  // A database in use is refused before it would be migrated.
  await withExistingDatabase(env, (dataSource) => refuseContent({ dataSource, env }));
  const { dataSource, firstAdmin } = await openDatabase(env, sayWaiting);
  try {
    const used = password ?? generatePassword();
    const builder = await fill({ dataSource, env }, used);
    print(report(builder, env, { chosen: password !== undefined, password: used, firstAdmin }));
    return 0;
  } catch (error) {
    // The account is there, and this is the only chance to learn its password.
    adminLines(firstAdmin).forEach(print);
    throw error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** Of several demos at once one fills the database; the lock is the one of a service that starts. */
function fill(database: Database, password: string): Promise<DemoBuilder> {
  return withMigrationLock(database.env.DATABASE_URL, () =>
    withServices(database, async (services) => {
      await refuseContent(database);
      const builder = new DemoBuilder(services, password);
      try {
        await builder.build();
      } catch (error) {
        throw new Error(
          `The demo stopped half way: ${error instanceof Error ? error.message : String(error)}. ` +
            `${describeDatabase(database.env.DATABASE_URL)} holds a part of it: remove that database before you run the demo again.`,
          { cause: error },
        );
      }
      return builder;
    }),
  );
}

async function refuseContent({ dataSource, env }: Database): Promise<void> {
  const { tenants, depts, accounts } = await findContent(dataSource);
  if (tenants + depts + accounts === 0) return;
  throw new Error(
    `The database ${describeDatabase(env.DATABASE_URL)} is not empty: ${count(tenants, 'tenant')}, ` +
      `${count(depts, 'department')}, ${count(accounts, 'account')} beside the platform and its admin. Nothing was changed.`,
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
