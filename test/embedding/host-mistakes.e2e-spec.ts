import { Controller, Get, Logger, ValidationPipe, type DynamicModule } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Raw } from 'typeorm';
import {
  DeptCreated,
  DomainEvents,
  OnDomainEvent,
  PrincipalResolver,
  tenantBoundToken,
  TenantryModule,
  type Principal,
  type TenantBoundRepository,
} from '../../src/index';
import { aDept } from '../../src/server/testing';
import { expectInvalid } from '../support/refusals';
import { HeaderResolver, Host, system } from '../support/host';
import { LineEntity, OrderEntity } from '../support/host-tables';
import { aTenantRow, deptRow } from '../support/seeds';

const DEPTS = '/system/dept-api';

@Controller('listening')
class ListeningController {
  readonly heard: number[] = [];

  @OnDomainEvent(DeptCreated)
  created({ deptId }: DeptCreated): void {
    this.heard.push(deptId);
  }

  @Get()
  list(): number[] {
    return this.heard;
  }
}

/** Says of everybody what a header says, however wrong. */
class CarelessResolver extends PrincipalResolver {
  override resolve({ headers }: { headers: Record<string, unknown> }): Principal | null {
    return typeof headers['x-principal'] === 'string'
      ? (JSON.parse(headers['x-principal']) as Principal)
      : null;
  }
}

describe('mistakes of a host', () => {
  let host: Host;
  let orders: TenantBoundRepository<OrderEntity>;
  const principalResolver = new HeaderResolver();

  beforeAll(async () => {
    host = await Host.start({
      imports: [
        TenantryModule.forRoot({ principalResolver, userDirectory: 'none' }),
        TenantryModule.forFeature([OrderEntity, LineEntity]),
      ],
      controllers: [ListeningController],
      // As many hosts have it: it makes an object of what nobody has parsed.
      providers: [
        {
          provide: APP_PIPE,
          useValue: new ValidationPipe({ transform: true, validateCustomDecorators: true }),
        },
      ],
    });
    orders = host.app.get(tenantBoundToken(OrderEntity));
  });
  afterAll(() => host.stop());

  const another = (imports: DynamicModule[]) =>
    Host.on({ ...host.database, drop: () => Promise.resolve() }, { imports });

  const storedOf = (tenantId: string) => host.dataSource.manager.findBy(OrderEntity, { tenantId });

  it('bodies that nobody has parsed change nothing', async () => {
    const deptId = await aDept(host.as(), { deptName: 'old', leader: 'old' });
    const before = await deptRow(host.dataSource, deptId);
    const patch = await host.as().patch(`${DEPTS}/${deptId}`, '{"leader":"new"}', {
      'content-type': 'application/merge-patch+json',
    });
    const put = await host.as().put(DEPTS, JSON.stringify({ deptId }), { 'content-type': 'text/plain' });
    const post = await host.as().send('POST', DEPTS);
    for (const answer of [patch, put, post]) {
      expectInvalid(answer, 'body');
    }
    expect(await deptRow(host.dataSource, deptId)).toEqual(before);
  });

  it('a resolver that says nonsense lets nobody in', async () => {
    const right = { subject: 's', tenantId: '000000', username: 'u', roles: ['tenant_admin'] };
    const careless = await another([
      TenantryModule.forRoot({ principalResolver: new CarelessResolver(), userDirectory: 'none' }),
    ]);
    const ask = (principal: object) =>
      careless.anonymous.get(DEPTS, { 'x-principal': JSON.stringify(principal) });
    expect((await ask(right)).status).toBe(200);
    expect((await ask({ ...right, roles: ['root', 'tenant_admin'] })).status).toBe(200);
    for (const roles of [[], ['root']]) {
      const { status, refusal } = await ask({ ...right, roles });
      expect([status, refusal.reason]).toEqual([403, 'ROLE_REQUIRED']);
    }
    expect((await careless.anonymous.get(DEPTS)).status).toBe(401);
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    for (const [wrong, problem] of [
      [{ roles: 'no_tenant_admin_please' }, 'roles must be'],
      [{ roles: undefined }, 'roles must be'],
      [{ username: undefined }, 'username must be'],
      [{ username: 'x'.repeat(65) }, 'username must be'],
      [{ subject: 7 }, 'subject must be'],
      [{ tenantId: 0 }, 'tenantId must be'],
      [{ tenantId: '000000 ' }, 'tenantId must be'],
      [{ tenantId: '100000', roles: ['superadmin'] }, 'superadmin exists only'],
    ] as const) {
      const answer = await ask({ ...right, ...wrong });
      expect([wrong, answer.status]).toEqual([wrong, 500]);
      const [{ err }] = log.mock.lastCall as unknown as [{ err: Error }];
      expect(err.message).toContain(problem);
    }
    log.mockRestore();
    await careless.stop();
  });

  it('objects that change after they were handed in reach no other tenant', async () => {
    const [own, foreign] = [await aTenantRow(host.dataSource), await aTenantRow(host.dataSource)];
    const rows = orders.in(system(own));
    await rows.insert({ title: 'mine', amount: 1 });
    await orders.in(system(foreign)).insert({ title: 'theirs', amount: 1 });
    const where: Record<string, unknown> = { title: 'nothing' };
    const values: Record<string, unknown> = { amount: 2 };
    const updating = rows.update(where, values);
    where.title = Raw(() => '1 = 1 OR 1 = 1');
    values.tenant = { tenantId: foreign };
    expect(await updating).toBe(0);
    let asked = 0;
    const shifty = {
      get title() {
        asked += 1;
        return asked === 1 ? 'mine' : Raw(() => '1 = 1 OR 1 = 1');
      },
    };
    expect(await rows.delete(shifty as never)).toBe(1);
    expect([await storedOf(own), await storedOf(foreign)]).toMatchObject([
      [],
      [{ title: 'theirs', amount: 1 }],
    ]);
  });

  it('rows that are kept beyond their transaction come to light', async () => {
    const kept = await orders.transaction(system(), (rows) => Promise.resolve({ rows }));
    await expect(kept.rows.find()).rejects.toThrow('The transaction is over');
    await expect(kept.rows.insert({ title: 'late', amount: 1 })).rejects.toThrow('is over');
  });

  it('a number that the database did not count is not given as an id', async () => {
    const rows = orders.in(system());
    expect(await rows.insert({ title: 'a', amount: 1 })).toEqual(expect.any(Number));
    expect(await rows.insert({ orderId: 900_001, title: 'b', amount: 1 })).toBeNull();
    await expect(rows.find({}, { limit: -1 })).rejects.toThrow('A limit is');
  });

  it('mistakes with events show at once, and never after a COMMIT', async () => {
    const events = host.app.get(DomainEvents);
    expect(() => events.on(undefined as never, () => undefined)).toThrow('no such class of events');
    const heard: string[] = [];
    const ends = [
      events.on(DeptCreated, () => {
        heard.push('first');
        ends[1]!();
      }),
      events.on(DeptCreated, () => heard.push('second')),
    ];
    const deptId = await aDept(host.as());
    ends[0]!();
    expect(heard).toEqual(['first']);
    expect(JSON.parse((await host.as().get('/listening')).text)).toContain(deptId);
  });

  it('two roots in one application do not start', async () => {
    const imports = [
      TenantryModule.forRoot({ principalResolver, userDirectory: 'none' }),
      TenantryModule.forRoot({ principalResolver, userDirectory: 'none', timeZone: 'UTC' }),
    ];
    await expect(another(imports)).rejects.toThrow('is imported twice');
  });
});
