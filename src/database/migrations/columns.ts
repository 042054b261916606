import { Table, TableColumn, TableForeignKey, TableIndex, type DataSource, type QueryRunner } from 'typeorm';
import type { TableForeignKeyOptions } from 'typeorm/schema-builder/options/TableForeignKeyOptions.js';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';
import type { TableIndexOptions } from 'typeorm/schema-builder/options/TableIndexOptions.js';
import type { TableOptions } from 'typeorm/schema-builder/options/TableOptions.js';
import { tableName, toUtcText } from '../columns';
import type { Dialect } from '../dialect';
import { dialectOf } from '../dialects';
import { dataSourceOf } from '../tenantry.data-source';

type More = Partial<TableColumnOptions>;
type Charset = 'ascii' | 'utf8mb4';

/** What MySQL says of a column, an index or a foreign key that is there already, or gone already. */
const DONE_BEFORE: ReadonlySet<number | undefined> = new Set([1060, 1061, 1091]);

/**
 * Changes of tables that are the same on all databases. MySQL commits each by itself, so a migration that was interrupted is run
 * again: what it has done before is left as it is. The statements of a migration that write rows must bear that too.
 */
export class Columns {
  readonly #dataSource: DataSource;
  readonly #dialect: Dialect;

  constructor(private readonly runner: QueryRunner) {
    this.#dataSource = dataSourceOf(runner);
    this.#dialect = dialectOf(this.#dataSource);
  }

  get isSqlite(): boolean {
    return this.#dataSource.options.type === 'better-sqlite3';
  }

  /** The name of a table for SQL that is written by hand. */
  table(name: string): string {
    return tableName(this.#dataSource, name);
  }

  create(table: TableOptions): Promise<void> {
    return this.runner.createTable(new Table(table), true);
  }

  /** Runs SQL with a place for each value where it has a `?`. */
  async query(sql: string, values: unknown[] = []): Promise<unknown[]> {
    let number = 0;
    const placed = sql.replace(/\?/g, () => this.#dialect.place((number += 1)));
    return (await this.runner.query(placed, values)) as unknown[];
  }

  /** Changes the type of a column that may be empty, and keeps its values. */
  async changeType(table: string, column: TableColumnOptions): Promise<void> {
    const sql = this.#dialect.changeType(this.table(table), column.name, this.sqlType(column));
    // Only there: on a server TypeORM would drop the column and add an empty one.
    if (sql === null) await this.runner.changeColumn(table, column.name, new TableColumn(column));
    else await this.query(sql);
  }

  /** Adds a column that may be empty, or has a default. */
  add(table: string, column: TableColumnOptions): Promise<void> {
    const more = column.isNullable ? 'NULL' : `NOT NULL DEFAULT ${String(column.default)}`;
    return this.#change(() =>
      this.query(
        `ALTER TABLE ${this.table(table)} ADD COLUMN ${column.name} ${this.sqlType(column)} ${more}`,
      ),
    );
  }

  drop(table: string, column: string): Promise<void> {
    return this.#change(() => this.query(`ALTER TABLE ${this.table(table)} DROP COLUMN ${column}`));
  }

  addIndex(table: string, index: TableIndexOptions): Promise<void> {
    return this.#change(() => this.runner.createIndex(table, new TableIndex(index)));
  }

  dropIndex(table: string, index: TableIndexOptions): Promise<void> {
    return this.#change(() => this.runner.dropIndex(table, new TableIndex(index)));
  }

  dropForeignKey(table: string, key: TableForeignKeyOptions): Promise<void> {
    return this.#change(() => this.runner.dropForeignKey(table, new TableForeignKey(key)));
  }

  autoId(name: string): TableColumnOptions {
    return this.big(name, { isPrimary: true, isGenerated: true, generationStrategy: 'increment' });
  }

  big(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.#dialect.bigint, ...more };
  }

  integer(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.#dialect.integer, ...more };
  }

  code(name: string, length: number, more: More = {}): TableColumnOptions {
    return { name, type: 'varchar', length: String(length), ...this.#dialect.charset('ascii'), ...more };
  }

  text(name: string, length: number, more: More = {}): TableColumnOptions {
    return { name, type: 'varchar', length: String(length), ...this.#dialect.charset('utf8mb4'), ...more };
  }

  longText(name: string, charset: Charset, more: More = {}): TableColumnOptions {
    return { name, type: this.#dialect.longText, ...this.#dialect.charset(charset), ...more };
  }

  instant(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.#dialect.instant, precision: 3, ...more };
  }

  /** This moment, as a text for a column of `instant`. */
  now(): string {
    const now = new Date();
    return this.#dialect.instant === 'datetime' ? toUtcText(now) : now.toISOString();
  }

  /** A column's type in SQL, for one that is added or changed later. */
  sqlType({ type, length, precision, charset, collation }: TableColumnOptions): string {
    const size = length === undefined && precision == null ? '' : `(${length ?? precision})`;
    const set = charset === undefined ? '' : ` CHARACTER SET ${charset}`;
    return `${type.replace(/^\w+/, (word) => word + size)}${set}${collation === undefined ? '' : ` COLLATE "${collation}"`}`;
  }

  audit(): TableColumnOptions[] {
    return [
      this.code('status', 1),
      this.code('del_flag', 1),
      this.text('create_by', 64),
      this.instant('create_time'),
      this.text('update_by', 64),
      this.instant('update_time', { isNullable: true }),
      this.integer('revision', { default: 0 }),
    ];
  }

  tenantKey(name: string): TableForeignKeyOptions {
    return {
      name,
      columnNames: ['tenant_id'],
      referencedTableName: 'tenantry_tenant',
      referencedColumnNames: ['tenant_id'],
      onDelete: 'NO ACTION',
      onUpdate: 'NO ACTION',
    };
  }

  async #change(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      if (!DONE_BEFORE.has((error as { readonly errno?: number }).errno)) throw error;
    }
  }
}
