import { NestFactory } from '@nestjs/core';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { types } from 'pg';
import { Column, DataSource, Entity, Generated, PrimaryGeneratedColumn } from 'typeorm';
import {
  ChangeFeed,
  DeptListService,
  DeptService,
  Doctor,
  entities,
  migrations,
  PrincipalResolver,
  tenantBoundToken,
  TenantryModule,
  type Principal,
  type TenantBoundRepository,
  type TenantOwned,
} from '../../src/index';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { system } from '../support/host';
import { emptyDatabase } from '../support/test-database';

/** Its key is not counted, another of its columns is. */
@Entity('host_invoice')
class InvoiceEntity implements TenantOwned {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ type: 'varchar', length: 20 }) tenantId!: string;
  @Column({ type: 'integer' }) @Generated('increment') invoiceNo!: number;
}

/** As newer schemas count, instead of `serial`. */
@Entity('host_note')
class NoteEntity implements TenantOwned {
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'ALWAYS' }) id!: number;
  @Column({ type: 'varchar', length: 20 }) tenantId!: string;
}

const NOTES = `CREATE TABLE "host_note"
  ("id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, "tenantId" varchar(20) NOT NULL)`;
const INVOICES = `CREATE TABLE "host_invoice"
  ("id" uuid PRIMARY KEY DEFAULT gen_random_uuid(), "tenantId" varchar(20) NOT NULL, "invoiceNo" serial)`;

class Nobody extends PrincipalResolver {
  override resolve(): Principal | null {
    return null;
  }
}

@Module({})
class HostModule {}

const { INT8, TIMESTAMPTZ } = types.builtins;

/** As an object of luxon, dayjs or moment is. */
class LibraryTime {
  constructor(private readonly text: string) {}

  valueOf(): number {
    return Date.parse(this.text);
  }
}

const PARSERS: Record<string, (text: string) => unknown> = {
  text: String,
  'milliseconds as a number': Date.parse,
  'an object of a library': (text) => new LibraryTime(text),
};

describe('a host that has its own ways with the driver of PostgreSQL', () => {
  let database: ThrowAwayDatabase;
  let app: INestApplicationContext;

  beforeEach(async () => {
    database = await emptyDatabase();
    const dataSource = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [...entities, InvoiceEntity, NoteEntity],
      migrations,
    }).initialize();
    await dataSource.runMigrations();
    await dataSource.query(INVOICES);
    await dataSource.query(NOTES);
    const imports = [
      TypeOrmModule.forRootAsync({
        useFactory: () => dataSource.options,
        dataSourceFactory: () => Promise.resolve(dataSource),
      }),
      TenantryModule.forRoot({
        principalResolver: new Nobody(),
        userDirectory: 'none',
        timeZone: 'UTC',
        controllers: false,
      }),
      TenantryModule.forFeature([InvoiceEntity, NoteEntity]),
    ];
    app = await NestFactory.createApplicationContext({ module: HostModule, imports }, { logger: false });
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it.each(Object.keys(PARSERS))(
    'a host on PostgreSQL may read times as %s, and ids as BigInt',
    async (name) => {
      const before = [INT8, TIMESTAMPTZ].map(
        (type) => [type, types.getTypeParser(type) as (text: string) => unknown] as const,
      );
      types.setTypeParser(INT8, BigInt);
      types.setTypeParser(TIMESTAMPTZ, PARSERS[name]!);
      try {
        const depts = app.get(DeptService);
        const deptId = await depts.create(system(), { deptName: 'Sales' });
        await depts.patch(system(), deptId, { leader: 'Ada' });
        const { createTime, updateTime } = await depts.get(system(), deptId);
        for (const time of [createTime, updateTime]) expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
        const { rows } = await app.get(DeptListService).list(system(), {});
        expect(rows).toMatchObject([{ deptId, createTime }]);
        expect((await app.get(ChangeFeed).since(system(), undefined)).rows).toHaveLength(2);
        expect((await app.get(Doctor).examine()).findings).toEqual([]);
      } finally {
        for (const [type, parser] of before) types.setTypeParser(type, parser);
      }
    },
  );

  it('a host on PostgreSQL gets the number that was counted for a row, also where its key is a UUID', async () => {
    const invoices = app.get<TenantBoundRepository<InvoiceEntity>>(tenantBoundToken(InvoiceEntity));
    expect(await invoices.in(system()).insert({})).toBe(1);
    expect(await invoices.in(system()).insert({}, {})).toBe(2);
    expect(await invoices.in(system()).insert({ invoiceNo: 9 })).toBeNull();
    expect(await invoices.in(system()).count()).toBe(4);
  });

  it('a host on PostgreSQL gets the number that was counted for a row, also by an identity column', async () => {
    const notes = app.get<TenantBoundRepository<NoteEntity>>(tenantBoundToken(NoteEntity));
    expect(await notes.in(system()).insert({})).toBe(1);
    expect(await notes.in(system()).insert({}, {})).toBe(2);
  });
});
