import { Pool, types, type PoolClient } from 'pg';
import type { Driver, Outcome, Value } from './database';

types.setTypeParser(types.builtins.INT8, Number);

/** A pool as large as the service's, with its session settings. It connects when it is used. */
const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  options: '-c TimeZone=UTC -c default_transaction_isolation=read\\ committed',
  max: 20,
});

const statements = new Map<string, { name: string; text: string }>();

/** A statement with a name is prepared once by each connection. */
function prepared(sql: string) {
  const known = statements.get(sql);
  if (known) return known;
  let places = 0;
  const text = sql.replace(/\?/g, () => `$${(places += 1)}`);
  const made = { name: `statement ${statements.size}`, text };
  statements.set(sql, made);
  return made;
}

export const postgres: Driver = {
  forceIndex: () => '',
  returning: (column) => ` RETURNING ${column} AS id`,
  execute: (sql, values) => executeOn(pool, sql, values),
  connect: async () => {
    const client = await pool.connect();
    return {
      execute: (sql, values) => executeOn(client, sql, values),
      run: async (sql) => {
        await client.query(sql);
      },
      release: () => {
        client.release();
      },
    };
  },
};

async function executeOn(on: Pool | PoolClient, sql: string, values: Value[]): Promise<Outcome> {
  const { name, text } = prepared(sql);
  const { rows, rowCount } = await on.query<{ id?: number }>({ name, text, values });
  return { rows, affected: rowCount ?? 0, insertId: rows[0]?.id ?? 0 };
}
