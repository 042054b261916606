import { mysql } from './mysql';
import { postgres } from './postgres';

export type Value = string | number | Date | null;

export interface Outcome {
  readonly rows: unknown[];
  readonly affected: number;
  readonly insertId: number;
}

/** Runs a prepared statement, with a `?` for each value. */
type Execute = (sql: string, values: Value[]) => Promise<Outcome>;

export interface Driver {
  /** Stands after the name of a table. */
  readonly forceIndex: (index: string) => string;
  /** Stands at the end of an INSERT whose table makes ids in this column. */
  readonly returning: (column: string) => string;
  readonly execute: Execute;
  connect(): Promise<Connection>;
}

interface Connection {
  readonly execute: Execute;
  run(sql: string): Promise<void>;
  release(): void;
}

const driver = process.env.DATABASE_URL?.startsWith('postgres') ? postgres : mysql;
export const { forceIndex, returning } = driver;

/** Runs a statement outside any transaction; gives its rows. */
export async function read<Row>(sql: string, values: Value[]): Promise<Row[]> {
  return (await driver.execute(sql, values)).rows as Row[];
}

/** The same; gives how many rows it changed. */
export async function change(sql: string, values: Value[]): Promise<number> {
  return (await driver.execute(sql, values)).affected;
}

/** The statements of one transaction. */
export class Transaction {
  readonly notes: Note[] = [];

  constructor(private readonly connection: Connection) {}

  async read<Row>(sql: string, values: Value[]): Promise<Row[]> {
    return (await this.connection.execute(sql, values)).rows as Row[];
  }

  change(sql: string, values: Value[]): Promise<Outcome> {
    return this.connection.execute(sql, values);
  }

  /** An entry for the journal, which is written at the end. */
  note(note: Note): void {
    this.notes.push(note);
  }
}

interface Note {
  readonly kind: 'dept' | 'tenant' | 'user';
  readonly operation: 'created' | 'updated' | 'moved' | 'deleted';
  readonly id: number | string;
  readonly before: object | null;
  readonly after: object | null;
  readonly lineage?: string;
  readonly by: string;
}

const VERSION = '(SELECT v.tree_ver FROM tenantry_tenant v WHERE v.tenant_id = ?)';
const PREVIOUS = `COALESCE((SELECT p.version FROM
  (SELECT MAX(version) AS version FROM tenantry_change WHERE tenant_id = ?) p), 0)`;
const BATCH = 500;

async function writeJournal(tx: Transaction, tenantId: string): Promise<void> {
  for (let from = 0; from < tx.notes.length; from += BATCH) {
    const batch = tx.notes.slice(from, from + BATCH);
    const lines = batch.map((_, at) => {
      const prev = from + at === 0 ? PREVIOUS : VERSION;
      return `(?, ${VERSION}, ?, ${prev}, ?, ?, ?, ?, ?, ?, ?, NULL)`;
    });
    const values = batch.flatMap(
      ({ kind, operation, id, before, after, lineage = null, by }, at): Value[] => [
        ...[tenantId, tenantId, from + at, tenantId, kind, operation, String(id), lineage],
        ...[JSON.stringify({ before, after }), by, new Date()],
      ],
    );
    await tx.change(
      `INSERT INTO tenantry_change (tenant_id, version, seq, prev, kind, operation, resource_id, lineage, fields,
         changed_by, happened_at, request_id) VALUES ${lines.join(', ')}`,
      values,
    );
  }
}

const RAISE = "UPDATE tenantry_tenant SET tree_ver = tree_ver + 1 WHERE tenant_id = ? AND del_flag = '0'";
const RECORD = 'INSERT INTO tenantry_unit (unit_id, created_at) VALUES (?, ?)';

/** Raises the version of a tenant's tree, works, and writes the commit record, as every write of the service does. */
export function inTransaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return holding(RAISE, [tenantId], async (tx) => {
    const result = await work(tx);
    await writeJournal(tx, tenantId);
    return result;
  });
}

/** The same with another first statement, which must change one row. */
export async function holding<T>(
  lock: string,
  values: Value[],
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const connection = await driver.connect();
  const tx = new Transaction(connection);
  try {
    await connection.run('START TRANSACTION');
    if ((await tx.change(lock, values)).affected !== 1) throw new Error('There is no such row to lock.');
    const result = await work(tx);
    await tx.change(RECORD, [crypto.randomUUID(), new Date()]);
    await connection.run('COMMIT');
    return result;
  } catch (error) {
    await connection.run('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}
