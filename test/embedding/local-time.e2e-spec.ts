import { MoreThanOrEqual } from 'typeorm';
import {
  Clock,
  Doctor,
  TenantryDept,
  TenantryModule,
  tenantBoundToken,
  type TenantBoundRepository,
} from '../../src/index';
import { Cleanup } from '../../src/database/cleanup';
import { TenantryCommit } from '../../src/database/commit-log';
import { aDept, type ThrowAwayDatabase } from '../../src/server/testing';
import { HeaderResolver, Host, system } from '../support/host';
import { VisitEntity } from '../support/host-tables';
import { emptyDatabase, onInnodb } from '../support/test-database';
import { inTimeZone } from '../support/time-zone';

class HeldClock extends Clock {
  time = new Date();

  override now(): Date {
    return this.time;
  }
}

/** The `TZ` of the process, and what the host says of its driver; on the other databases there is nothing to say. */
const OPTIONS: readonly (readonly [zone: string, options: object])[] = onInnodb
  ? [
      ['Asia/Shanghai', { timezone: 'Z' }],
      ['Asia/Shanghai', {}],
      ['Europe/Berlin', { timezone: 'local' }],
      ['Europe/Berlin', { timezone: '+08:00' }],
      ['Europe/Berlin', { dateStrings: true }],
      ['Asia/Shanghai', { timezone: '-03:30', dateStrings: ['DATETIME'] }],
      // With this option TypeORM sends the statements, and the driver reads texts.
      ['Europe/Berlin', { maxQueryExecutionTime: 10_000, extra: { timezone: '+08:00' } }],
    ]
  : [['Europe/Berlin', {}]];

/** The third is in an hour that Berlin has twice. */
const TIMES = ['2026-01-15T20:00:00.000Z', '2026-07-01T12:34:56.789Z', '2026-10-25T02:30:00.123Z'];
/** Berlin has no such hour: as a local time it would be another. */
const IN_GAP = '2026-03-29T02:30:00.123Z';

const shown = (time: string) =>
  new Date(Date.parse(time) + 8 * 3600_000).toISOString().slice(0, 19).replace('T', ' ');
const later = (time: string, hours: number) => new Date(Date.parse(time) + hours * 3600_000);

describe('a host in local time', () => {
  const clock = new HeldClock();
  let database: ThrowAwayDatabase;
  /** The department that was made last at a time, maybe by a host with other options. */
  const earlier = new Map<string, number>();

  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(() => database.drop());

  async function start(options: object): Promise<Host> {
    const { extra } = options as { extra?: object };
    // One connection, so that a setting of its session is one of all statements.
    const settings = onInnodb ? { options: { ...options, extra: { ...extra, connectionLimit: 1 } } } : {};
    const tenantry = TenantryModule.forRoot({
      principalResolver: new HeaderResolver(),
      userDirectory: 'none',
      journalKeepDays: 0,
      clock,
    });
    const host = await Host.on(
      database,
      { imports: [tenantry, TenantryModule.forFeature([VisitEntity])] },
      settings,
    );
    if (onInnodb) await host.dataSource.query("SET SESSION time_zone = '+08:00'");
    return host;
  }

  it.each(OPTIONS.map(([zone, options]) => [JSON.stringify(options), zone, options] as const))(
    "times are right in Tenantry's tables and in the host's: %s, TZ=%s",
    async (_, zone, options) => {
      await inTimeZone(zone, async () => {
        const host = await start(options);
        for (const time of [...TIMES, IN_GAP]) await writes(host, time);
        await reads(host);
        await keepsForADay(host, IN_GAP);
        for (const time of TIMES) await isReadByTypeorm(host, time);
        await host.app.close();
      });
    },
  );

  if (onInnodb)
    it('a host may read numbers as texts, by a typeCast of its own', async () => {
      interface Field {
        readonly type: string;
        string(): string | null;
      }
      const typeCast = (field: Field, next: () => unknown) =>
        field.type.startsWith('LONG') ? field.string() : next();
      const host = await start({ extra: { typeCast } });
      const api = host.as();
      const parentId = await aDept(api, { orderNum: 3 });
      const deptId = await aDept(api, { parentId });
      expect((await api.get(`/system/dept-api?parentId=${parentId}`)).body.data).toMatchObject({
        rows: [{ deptId, parentId, orderNum: 0, ancestors: `0,${parentId}`, hasChildren: false }],
      });
      expect((await host.app.get(Doctor).examine()).findings).toEqual([]);
      await host.app.close();
    });

  async function writes(host: Host, time: string): Promise<void> {
    const api = host.as();
    clock.time = new Date(time);
    const deptId = await aDept(api);
    await api.patch(`/system/dept-api/${deptId}`, { leader: 'Ada' });
    if (onInnodb)
      expect(await textsOf(host, `create_time FROM tenantry_dept WHERE dept_id = ${deptId}`)).toEqual([
        time.replace('T', ' ').replace('Z', ''),
      ]);
    earlier.set(time, deptId);
  }

  async function reads(host: Host): Promise<void> {
    for (const [earlierTime, id] of earlier) {
      const [createTime, updateTime] = [shown(earlierTime), shown(earlierTime)];
      const read = async (path: string) => (await host.as().get(`/system/dept-api/${path}`)).body.data;
      expect(await read(`${id}`)).toMatchObject({ createTime, updateTime });
      expect(await read(`${id}/history`)).toMatchObject({
        rows: [{ time: updateTime }, { time: createTime }],
      });
    }
    expect((await host.app.get(Doctor).examine()).findings).toEqual([]);
  }

  async function keepsForADay(host: Host, time: string): Promise<void> {
    const unitsAfter = async (hours: number) => {
      clock.time = later(time, hours);
      await host.app.get(Cleanup).run();
      return host.dataSource.manager.count(TenantryCommit);
    };
    expect(await unitsAfter(10_000)).toBe(0);
    clock.time = new Date(time);
    await aDept(host.as());
    expect([await unitsAfter(23.9), await unitsAfter(24.1)]).toEqual([1, 0]);
  }

  /** Tenantry's own entities in UTC, those of the host as it has always read them. */
  async function isReadByTypeorm(host: Host, time: string): Promise<void> {
    const at = new Date(time);
    clock.time = at;
    const deptId = await aDept(host.as());
    const visits = host.app.get<TenantBoundRepository<VisitEntity>>(tenantBoundToken(VisitEntity));
    const plain = host.dataSource.getRepository(VisitEntity);
    await plain.save({ tenantId: '000000', deptId, at });
    await visits.in(system()).insert({ deptId, at });
    const [first, second] = await textsOf(host, `at FROM host_visit WHERE dept_id = ${deptId}`);
    expect(second).toBe(first);
    const found = await plain.find({ where: { deptId }, relations: { dept: true } });
    expect(await visits.in(system()).find({ deptId, at })).toMatchObject(found.map(({ at }) => ({ at })));
    expect(found[0]!.dept).toMatchObject({ deptId, createTime: at, updateTime: null });
    const since = (hours: number) => ({ deptId, createTime: MoreThanOrEqual(later(time, hours)) });
    const depts = host.dataSource.getRepository(TenantryDept);
    expect([await depts.countBy(since(0)), await depts.countBy(since(0.1))]).toEqual([1, 0]);
  }

  async function textsOf(host: Host, selected: string): Promise<string[]> {
    const [column, ...rest] = selected.split(' ');
    const sql = `SELECT CAST(${column} AS CHAR(23)) AS text ${rest.join(' ')}`;
    return (await host.dataSource.query<{ text: string }[]>(sql)).map(({ text }) => text);
  }
});
