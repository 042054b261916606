import type { QueryRunner } from 'typeorm';
import type { TableForeignKeyOptions } from 'typeorm/schema-builder/options/TableForeignKeyOptions.js';
import type { TableColumnOptions } from 'typeorm/schema-builder/options/TableColumnOptions.js';

type More = Partial<TableColumnOptions>;

/** Column builders for migrations: the few places where the two databases differ are all here. */
export class Columns {
  /** Otherwise it is SQLite. */
  readonly isMysql: boolean;
  /** The type of `longText` in SQL, for a MySQL column that is changed later. */
  readonly longTextType = 'mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

  constructor(runner: QueryRunner) {
    this.isMysql = runner.dataSource.driver.options.type !== 'better-sqlite3';
  }

  autoId(name: string): TableColumnOptions {
    return this.big(name, { isPrimary: true, isGenerated: true, generationStrategy: 'increment' });
  }

  big(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.isMysql ? 'bigint' : 'integer', ...more };
  }

  integer(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.isMysql ? 'int' : 'integer', ...more };
  }

  /** Codes and paths: ASCII. */
  code(name: string, length: number, more: More = {}): TableColumnOptions {
    return { name, type: 'varchar', length: String(length), ...this.#charset('ascii'), ...more };
  }

  /** Texts of people. */
  text(name: string, length: number, more: More = {}): TableColumnOptions {
    return { name, type: 'varchar', length: String(length), ...this.#charset('utf8mb4'), ...more };
  }

  /** A code of up to 16 MB. */
  longCode(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.isMysql ? 'mediumtext' : 'text', ...this.#charset('ascii'), ...more };
  }

  /** A text of up to 16 MB. */
  longText(name: string, more: More = {}): TableColumnOptions {
    return { name, type: this.isMysql ? 'mediumtext' : 'text', ...this.#charset('utf8mb4'), ...more };
  }

  /** A text that is compared and ordered by its bytes: no padding, no collation. */
  bytes(name: string, length: number): TableColumnOptions {
    return { name, type: this.isMysql ? 'varbinary' : 'varchar', length: String(length) };
  }

  /** The type of `code` in SQL, for a column that is added later. */
  codeType(length: number): string {
    return this.isMysql ? `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin` : `varchar(${length})`;
  }

  /** The type of `text` in SQL, for a column that is added later. */
  textType(length: number): string {
    return this.isMysql
      ? `varchar(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`
      : `varchar(${length})`;
  }

  instant(name: string, more: More = {}): TableColumnOptions {
    return { name, type: 'datetime', precision: 3, ...more };
  }

  /** State and audit columns that every resource of the contract has. */
  life(): TableColumnOptions[] {
    return [
      this.code('status', 1),
      this.code('del_flag', 1),
      this.text('create_by', 64),
      this.instant('create_time'),
      this.text('update_by', 64),
      this.instant('update_time', { isNullable: true }),
    ];
  }

  /** Rows that belong to a tenant refer to it by its code. */
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

  #charset(charset: 'ascii' | 'utf8mb4'): More {
    return this.isMysql ? { charset, collation: `${charset}_bin` } : {};
  }
}
