import type { QueryRunner } from 'typeorm';
import type { TableForeignKeyOptions } from 'typeorm/schema-builder/options/TableForeignKeyOptions.js';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';
import { dialectOf, isSqlite, type Dialect } from '../dialect';
import { dataSourceOf } from '../tenantry.data-source';

type More = Partial<TableColumnOptions>;
type Charset = 'ascii' | 'utf8mb4';

export class Columns {
  readonly isSqlite: boolean;
  readonly #dialect: Dialect;

  constructor(runner: QueryRunner) {
    const dataSource = dataSourceOf(runner);
    this.isSqlite = isSqlite(dataSource);
    this.#dialect = dialectOf(dataSource);
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
    return { name, type: 'datetime', precision: 3, ...more };
  }

  /** A column's type in SQL, for one that is added or changed later. */
  sqlType({ type, length, charset, collation }: TableColumnOptions): string {
    const size = length === undefined ? '' : `(${length})`;
    return `${type}${size}${charset ? ` CHARACTER SET ${charset} COLLATE ${collation ?? ''}` : ''}`;
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
}
