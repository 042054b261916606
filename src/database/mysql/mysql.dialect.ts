import {
  PLAIN_SESSION,
  type Dialect,
  type Execute,
  type Parameter,
  type Rows,
  type StatementResult,
} from '../dialect';
import { dataSourceOf } from '../tenantry.data-source';

interface Many {
  readonly length: number;
}

/** Private parts of mysql2's pool, which has no other way to ask; a test fails when they change. */
interface PrivatePool {
  readonly config: { readonly connectionLimit: number };
  readonly _allConnections: Many;
  readonly _freeConnections: Many;
  readonly _connectionQueue: Many;
}

type Raw = Rows | { readonly affectedRows: number; readonly insertId: number | string };
type Callback = (error: (Error & { readonly errno?: number }) | null, raw: Raw) => void;

interface PreparedQuery {
  readonly sql: string;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

interface Connection {
  execute(sql: string | PreparedQuery, parameters: readonly Parameter[], done: Callback): void;
  query(sql: string, parameters: readonly Parameter[], done: Callback): void;
  destroy(): void;
}

/** Too many prepared statements on the server, another server behind the proxy, an altered table: its text can still be sent. */
const UNPREPARED: ReadonlySet<number | undefined> = new Set([1461, 1243, 1615]);

/** Of the isolation level there are two names; MariaDB has had both since 11.1. */
const SESSION_VARIABLES = `SHOW SESSION VARIABLES
  WHERE Variable_name IN ('innodb_lock_wait_timeout', 'tx_isolation', 'transaction_isolation')`;
/** For locks of rows and of tables. A level that is set together with them holds for the next transaction. */
const SET_WAITS = `SET @tenantry_row_wait = @@innodb_lock_wait_timeout, @tenantry_table_wait = @@lock_wait_timeout,
  SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1`;
const RESTORE_WAITS =
  'SET SESSION innodb_lock_wait_timeout = @tenantry_row_wait, SESSION lock_wait_timeout = @tenantry_table_wait';

export const MYSQL: Dialect = {
  bigint: 'bigint',
  integer: 'int',
  longText: 'mediumtext',
  instant: 'datetime',
  timesAsText: true,
  instr: 'INSTR',
  findsByRowValues: false,
  charset: (charset) => ({ charset, collation: `${charset}_bin` }),
  changeType: (table, column, type) => `ALTER TABLE ${table} MODIFY ${column} ${type} NULL`,
  place: () => '?',
  returning: () => '',
  // The server gives this function's argument back as the id of an insert.
  raise: (column) => ({ set: `${column} = LAST_INSERT_ID(${column} + 1)`, end: '' }),
  passIds: () => [],
  analyze: () => null,
  // On a cluster they have gaps.
  newIds: () => null,
  // With USE INDEX, MariaDB may read from the tenant's first entry: ten times the cost in the middle of half a million.
  forceIndex: (index) => ` FORCE INDEX (${index})`,
  // It uses no index for `(a, b) > (?, ?)`. Of these alternatives it makes neighbouring ranges, which it reads in order.
  after: (columns, place, compared = '>') => {
    const alternatives = columns.map((column, last) => {
      const same = columns.slice(0, last).map((other, index) => `${other} = ${place(index)}`);
      return [...same, `${column} ${compared} ${place(last)}`].join(' AND ');
    });
    return `(${alternatives.join(' OR ')})`;
  },
  // TypeORM would send the text of a statement each time, which costs four times as much.
  preparing: async (runner) => {
    const connection = (await runner.connect()) as Partial<Connection>;
    const { typeCast } = (dataSourceOf(runner).options.extra ?? {}) as { readonly typeCast?: unknown };
    return connection.execute ? executeOn(connection as Connection, typeof typeCast === 'function') : null;
  },
  unitSession: async (runner) => {
    const rows = (await runner.query(SESSION_VARIABLES)) as { Variable_name: string; Value: string }[];
    const wait = rows.find(({ Variable_name: name }) => name === 'innodb_lock_wait_timeout');
    const [isolation] = rows.filter((row) => row !== wait);
    const { isolationLevel } = dataSourceOf(runner).options;
    if (Number(wait?.Value) <= 1 && isolation?.Value === 'READ-COMMITTED' && !isolationLevel)
      return PLAIN_SESSION;
    return {
      begin: async (unit) => {
        await unit.query(`${SET_WAITS}, @@${isolation?.Variable_name} = 'READ-COMMITTED'`);
        // With a level of the DataSource, TypeORM would set that one.
        await unit.startTransaction(isolationLevel && 'READ COMMITTED');
      },
      end: async (unit) => {
        const connection = (await unit.connect()) as Connection;
        // No one waits for it: statements on a connection run in order, so whoever gets it next comes after this one.
        connection.query(RESTORE_WAITS, [], (error) => {
          if (error) connection.destroy();
        });
      },
    };
  },
  poolState: ({ driver }) => {
    const { pool } = driver as unknown as { pool: PrivatePool };
    return {
      limit: pool.config.connectionLimit,
      used: pool._allConnections.length - pool._freeConnections.length,
      idle: pool._freeConnections.length,
      waiting: pool._connectionQueue.length,
    };
  },
};

/** A `typeCast` that a host has given to mysql2 is written for texts: of a prepared statement it reads numbers wrong. */
function executeOn(connection: Connection, hasTypeCast: boolean): Execute {
  return (sql, parameters) =>
    new Promise((resolve, reject) => {
      const settle: Callback = (error, raw) => {
        if (error) reject(error);
        else resolve(outcomeOf(raw));
      };
      // mysql2 would send numbers as floating-point ones, which MySQL 8 refuses after LIMIT.
      const texts = parameters.map((value) => (typeof value === 'number' ? String(value) : value));
      const query = hasTypeCast ? { sql, typeCast: readAsUsual } : sql;
      connection.execute(query, texts, (error, raw) => {
        if (error && UNPREPARED.has(error.errno)) connection.query(sql, parameters, settle);
        else settle(error, raw);
      });
    });
}

const readAsUsual: PreparedQuery['typeCast'] = (_, next) => next();

function outcomeOf(raw: Raw): StatementResult {
  if (!('affectedRows' in raw)) return { rows: raw, affected: 0, insertId: 0 };
  return { rows: [], affected: raw.affectedRows, insertId: Number(raw.insertId) };
}

/**
 * Of each session, whatever the server is set to. READ COMMITTED: under REPEATABLE READ a plain read before the tree's lock
 * would freeze a stale view. The lock wait is a third of a unit's time, so that a unit that did not get the lock is still
 * replayed. A server may be told to ignore the charset of clients, so it is set here once more.
 */
export const SESSION: readonly string[] = [
  'SET NAMES utf8mb4 COLLATE utf8mb4_bin',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
     innodb_lock_wait_timeout = 1, autocommit = 1, completion_type = 0, foreign_key_checks = 1, unique_checks = 1,
     sql_select_limit = 18446744073709551615, sql_safe_updates = 0, sql_big_selects = 1, sql_auto_is_null = 0`,
];
