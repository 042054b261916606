import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';
import type { TableIndexOptions } from 'typeorm/schema-builder/options/TableIndexOptions.js';
import { Columns } from '../../../database/migrations/columns';

const SESSIONS = 'tenantry_session';
const FAILURES = 'tenantry_failed_sign_in';

const INDEXES: readonly (readonly [string, TableIndexOptions])[] = [
  [SESSIONS, { name: 'ix_session_begun', columnNames: ['tenant_id', 'created_at', 'session_id'] }],
  [
    SESSIONS,
    { name: 'ix_session_begun_by', columnNames: ['tenant_id', 'user_id', 'created_at', 'session_id'] },
  ],
  [FAILURES, { name: 'ix_failed_sign_in_tenant', columnNames: ['tenant_id', 'failed_at', 'attempt_id'] }],
  [
    FAILURES,
    { name: 'ix_failed_sign_in_user', columnNames: ['tenant_id', 'user_id', 'failed_at', 'attempt_id'] },
  ],
];
const USER_INDEX = { name: 'ix_session_user', columnNames: ['tenant_id', 'user_id'] };

/**
 * Where sessions began and were refreshed, and whose refused sign-ins are kept, with indexes to list both. The version before does not
 * know these columns: what it writes has neither.
 */
export class SignInRecords1763164800025 implements MigrationInterface {
  name = 'SignInRecords1763164800025';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const [table, column] of columnsOf(c)) await c.add(table, column);
    for (const [table, index] of INDEXES) await c.addIndex(table, index);
    await c.dropIndex(SESSIONS, USER_INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.addIndex(SESSIONS, USER_INDEX);
    for (const [table, index] of INDEXES) await c.dropIndex(table, index);
    for (const [table, { name }] of columnsOf(c)) await c.drop(table, name);
  }
}

function columnsOf(c: Columns): readonly (readonly [string, TableColumnOptions])[] {
  const empty = { isNullable: true };
  return [
    [SESSIONS, c.code('client', 45, empty)],
    [SESSIONS, c.instant('refreshed_at', empty)],
    [SESSIONS, c.code('refreshed_client', 45, empty)],
    [FAILURES, c.code('tenant_id', 20, empty)],
    [FAILURES, c.big('user_id', empty)],
    [FAILURES, c.code('reason', 16, empty)],
  ];
}
