import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2';

export type Value = string | number | Date | null;

/** A pool as large as the service's, with its session settings. */
export const pool: Pool = createPool({
  uri: process.env.DATABASE_URL ?? '',
  charset: 'utf8mb4',
  timezone: 'Z',
  connectionLimit: 20,
});
pool.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  connection.query("SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'");
});

/** Runs a prepared statement outside any transaction; gives its rows. */
export function read<Row>(sql: string, values: Value[]): Promise<Row[]> {
  return execute(pool, sql, values) as Promise<Row[]>;
}

/** The same; gives how many rows it changed. */
export async function change(sql: string, values: Value[]): Promise<number> {
  return ((await execute(pool, sql, values)) as ResultSetHeader).affectedRows;
}

/** The statements of one transaction. */
export class Transaction {
  constructor(private readonly connection: PoolConnection) {}

  read<Row>(sql: string, values: Value[]): Promise<Row[]> {
    return execute(this.connection, sql, values) as Promise<Row[]>;
  }

  async change(sql: string, values: Value[]): Promise<ResultSetHeader> {
    return (await execute(this.connection, sql, values)) as ResultSetHeader;
  }
}

const RAISE = "UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = ? AND del_flag = '0'";
const RECORD = 'INSERT INTO tenantry_unit (unit_id, created_at) VALUES (?, ?)';

/** Raises the version of a tenant's tree, works, and writes the commit record, as every write of the service does. */
export async function inTransaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const connection = await connect();
  const tx = new Transaction(connection);
  try {
    await run(connection, 'START TRANSACTION');
    if ((await tx.change(RAISE, [tenantId])).affectedRows !== 1) throw new Error('There is no such tenant.');
    const result = await work(tx);
    await tx.change(RECORD, [crypto.randomUUID(), new Date()]);
    await run(connection, 'COMMIT');
    return result;
  } catch (error) {
    await run(connection, 'ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}

function execute(on: Pool | PoolConnection, sql: string, values: Value[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    on.execute(sql, values, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
}

function connect(): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => {
      if (error) reject(error);
      else resolve(connection);
    });
  });
}

function run(on: PoolConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    on.query(sql, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
