import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool, PoolClient } from 'pg';
import { afterByRowValues, PLAIN_SESSION, raiseByReturning, type Dialect, type Execute } from '../dialect';
import { UNPREPARED_IN_TRANSACTION } from '../retry-policy';
import { dataSourceOf } from '../tenantry.data-source';

/** The statement was forgotten, or its table altered: its text can still be sent. */
const UNPREPARED: ReadonlySet<unknown> = new Set(['26000', '0A000']);

/** So many ids are passed one by one, in one statement. */
const FAR = 100_000;

/** Names of prepared statements, by their texts. */
const NAMES = new LRUCache<string, string>({ max: 2000 });

const SESSION_AS_WANTED = `SELECT current_setting('default_transaction_isolation') = 'read committed'
  AND setting::int BETWEEN 1 AND 1000 AS wanted FROM pg_settings WHERE name = 'lock_timeout'`;
/** Two statements in one message. They end with the transaction. */
const SET_FOR_TRANSACTION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '1s'";

export const POSTGRES: Dialect = {
  bigint: 'bigint',
  integer: 'integer',
  longText: 'text',
  instant: 'timestamp with time zone',
  timesAsText: false,
  instr: 'STRPOS',
  findsByRowValues: true,
  // Equality is to the byte in any collation; in this one the order is, too, and indexes serve ranges of texts.
  charset: () => ({ collation: 'C' }),
  changeType: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
  place: (number) => `$${number}`,
  returning: (column) => ` RETURNING ${column} AS id`,
  // By itself it does so within a minute. Until then it may read all of a tenant for each row that it looks for.
  analyze: (table) => `ANALYZE (SKIP_LOCKED) ${table}`,
  raise: raiseByReturning,
  newIds: ({ rows }) => rows.map(({ id }) => Number(id)),
  passIds: (table, column) => {
    const name = `pg_get_serial_sequence('${table.replaceAll("'", "''")}', '${column}')`;
    const sequence = `(SELECT s, COALESCE(pg_sequence_last_value(s), 0) AS last FROM CAST(${name} AS regclass) s) q`;
    return [
      // It must not go back, and others may take ids between the look at it and the change; but not that many.
      `SELECT setval(s, CAST($1 AS bigint)) FROM ${sequence} WHERE last + ${FAR} < CAST($1 AS bigint)`,
      `SELECT COUNT(nextval(s)) FROM ${sequence}, generate_series(last + 1, CAST($1 AS bigint))`,
    ];
  },
  forceIndex: () => '',
  after: afterByRowValues,
  preparing: async (runner) => executeOn((await runner.connect()) as PoolClient, runner.isTransactionActive),
  unitSession: async (runner) => {
    const [row] = (await runner.query(SESSION_AS_WANTED)) as { readonly wanted: boolean }[];
    if (row?.wanted && !dataSourceOf(runner).options.isolationLevel) return PLAIN_SESSION;
    return {
      begin: async (unit) => {
        await unit.startTransaction();
        await unit.query(SET_FOR_TRANSACTION);
      },
      end: () => Promise.resolve(),
    };
  },
  poolState: ({ driver }) => {
    const { master: pool } = driver as unknown as { master: Pool };
    return {
      limit: pool.options.max,
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    };
  },
};

function executeOn(client: PoolClient, isInTransaction: boolean): Execute {
  return async (text, values) => {
    const statement = { text, values: [...values] };
    const { rows, rowCount } = await client
      .query<Record<string, unknown>>({ name: nameOf(text), ...statement })
      .catch((error: unknown) => {
        if (!UNPREPARED.has((error as { code?: unknown }).code)) throw error;
        if (!isInTransaction) return client.query<Record<string, unknown>>(statement);
        // Too late for the text. The next try needs another connection: this one would use the statement again.
        client.end().catch(() => undefined);
        const message = 'A prepared statement is no longer valid.';
        throw Object.assign(new Error(message, { cause: error }), { code: UNPREPARED_IN_TRANSACTION });
      });
    return { rows, affected: rowCount ?? 0, insertId: 0 };
  };
}

function nameOf(text: string): string {
  const known = NAMES.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  NAMES.set(text, name);
  return name;
}
