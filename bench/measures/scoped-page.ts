import { Column, Entity, MoreThan, PrimaryGeneratedColumn } from 'typeorm';
import { DomainEvents } from '../../src/database/domain-events';
import { SilentMeter } from '../../src/database/meter';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { DataScoped } from '../../src/resource/row-scope.conditions';
import { TenantBoundRepository } from '../../src/resource/tenant-bound.repository';
import { serviceTables } from '../../src/server/service-data-source';
import type { DataScope } from '../../src/tenancy/data-scope';
import { RequestContext } from '../../src/tenancy/request-context';
import type { TenantOwned } from '../../src/tenancy/tenant-bound';
import { SystemClock } from '../../src/time/clock';
import { interleave, type Side } from '../support/figures';
import { ratioResult, type Measure, type Result } from '../support/result';
import { isPostgres, numbers, vacuum } from '../support/sql';
import { fillTenants, type Caller } from '../support/world';

const ROWS = 1_000_000;
const PAGES = 10;
const ROUNDS = 5;
const BOUND = 1.3;

@Entity('bench_order')
@DataScoped({ dept: 'deptId', owner: 'createdBy' })
class BenchOrder implements TenantOwned {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'tenant_id', type: 'varchar', length: 20 })
  tenantId!: string;

  @Column({ name: 'dept_id', type: 'bigint' })
  deptId!: number;

  @Column({ name: 'created_by', type: 'varchar', length: 64 })
  createdBy!: string;

  @Column({ type: 'varchar', length: 64 })
  title!: string;
}

/** Pages of 50 in the order of ids, through a tenant-bound repository: with a data scope against without one. */
export const scopedPage: Measure = {
  name: 'scoped-page',
  async run(bed) {
    const database = await bed.database();
    const entities = [...serviceTables.entities, BenchOrder];
    const dataSource = await database.open({ ...serviceTables, entities });
    const id = isPostgres(dataSource) ? 'bigserial PRIMARY KEY' : 'bigint AUTO_INCREMENT PRIMARY KEY';
    await dataSource.query(
      `CREATE TABLE bench_order (id ${id}, tenant_id varchar(20) NOT NULL, dept_id bigint NOT NULL,
         created_by varchar(64) NOT NULL, title varchar(64) NOT NULL)`,
    );
    const callers: Caller[] = [];
    for (const depts of [10, 1000, 100_000]) {
      const [caller] = await fillTenants(dataSource, { tenants: 1, depts });
      if (!caller) throw new Error('There is no tenant.');
      callers.push(caller);
      await dataSource.query(
        `INSERT INTO bench_order (tenant_id, dept_id, created_by, title)
         SELECT '${caller.tenantId}', ${caller.firstDept} + MOD(s.seq * 1999, ${depts}), CONCAT('user ', MOD(s.seq, 997)), 'an order'
         FROM ${numbers(dataSource, ROWS, 's')}`,
      );
    }
    await dataSource.query('CREATE INDEX ix_order_page ON bench_order (tenant_id, id)');
    await dataSource.query('CREATE INDEX ix_order_dept ON bench_order (tenant_id, dept_id, id)');
    if (!isPostgres(dataSource)) await dataSource.query('ANALYZE TABLE bench_order, tenantry_dept');
    await vacuum(dataSource);
    const unitOfWork = new UnitOfWork(dataSource, new DomainEvents(), new SystemClock(), new SilentMeter());
    const orders = new TenantBoundRepository(unitOfWork, dataSource, BenchOrder);
    const results: Result[] = [];
    for (const [at, caller] of callers.entries()) {
      const page = (dataScope: DataScope): Side => {
        const { tenantId, username } = caller;
        const ctx = RequestContext.of({
          subject: username,
          username,
          tenantId,
          roles: ['member'],
          dataScope,
        });
        return async () => {
          const begin = performance.now();
          for (let n = 0; n < PAGES; n += 1) {
            // Near the tenant's first row: MariaDB walks its index from there to any place, and that would hide what a scope costs.
            const after = at * ROWS + n * 97;
            const rows = await orders
              .in(ctx)
              .find({ id: MoreThan(after) }, { order: { id: 'ASC' }, limit: 50 });
            if (rows.length !== 50) throw new Error(`A page has ${rows.length} rows.`);
          }
          return (performance.now() - begin) / PAGES;
        };
      };
      for (const [share, scope, bound] of scopesOf(caller)) {
        const sides = [page(scope), page([{ kind: 'all' }])];
        await interleave(sides, 1);
        const [own = [], theirs = []] = await interleave(sides, ROUNDS);
        const work = `Page of 50 of 1,000,000 rows, a scope of ${share}, ${caller.depts.toLocaleString('en')} departments`;
        results.push(ratioResult({ work, baseline: 'without a scope', bound }, own, theirs, 'ms'));
      }
    }
    return results;
  },
};

/** A tenant has ten departments at the top, and all others are below those, as many below each. */
function scopesOf({ firstDept, depts }: Caller): [share: string, scope: DataScope, bound: number | null][] {
  const below = (deptIds: number[]): DataScope => [{ kind: 'depts', deptIds, below: true }];
  const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);
  const narrow = [...idsFrom(0, Math.ceil(depts / 50_000))].flatMap((part) =>
    below(idsFrom(firstDept + depts - 100 + part * 50, depts / 1000 / Math.ceil(depts / 50_000))),
  );
  return [
    ['nine tenths', below(idsFrom(firstDept, 9)), BOUND],
    // Only reported: what a page costs follows from the rows that it walks.
    ['a tenth', below([firstDept + 3]), null],
    ...(depts < 1000 ? [] : [['a thousandth', narrow, null] as [string, DataScope, null]]),
  ];
}
