import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Module, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import type { Request } from 'express';
import { of } from 'rxjs';
import { In, type EntityManager } from 'typeorm';
import {
  DeptListService,
  DeptModule,
  DeptService,
  DeptTransferService,
  FORMATS,
  PrincipalResolver,
  TenantListService,
  TenantModule,
  TenantryModule,
  TenantService,
  UserDirectory,
  type Principal,
  type RequestContext,
  type TenantryOptions,
} from '../../src/index';
import { aDept } from '../../src/server/testing';
import { expectRefused } from '../support/refusals';
import { HeaderResolver, Host, system } from '../support/host';
import { HostUserEntity } from '../support/host-tables';
import { deptRow } from '../support/seeds';

const DEPTS = '/system/dept-api';
const ENTITLEMENT = '/system/entitlement-api';
const principalResolver = new HeaderResolver();

async function during(
  parts: Parameters<typeof Host.start>[0],
  work: (host: Host) => Promise<void>,
  settings: Parameters<typeof Host.start>[1] = {},
): Promise<void> {
  const host = await Host.start(parts, settings);
  try {
    await work(host);
  } finally {
    await host.stop();
  }
}

async function expectWorking(host: Host): Promise<void> {
  const deptId = await aDept(host.as(), { deptName: 'here' });
  expect((await host.as().get(`${DEPTS}/${deptId}`)).body.data).toMatchObject({ deptName: 'here' });
  expect(await deptRow(host.dataSource, deptId)).toMatchObject({ deptName: 'here' });
}

describe('a host chooses', () => {
  it('a host chooses services without routes', async () => {
    const tenantry = TenantryModule.forRoot({ principalResolver, userDirectory: 'none', controllers: false });
    await during({ imports: [tenantry] }, async ({ app, ...host }) => {
      for (const path of [DEPTS, '/system/tenant-api', `${DEPTS}/1`]) {
        expect((await host.anonymous.get(path)).status).toBe(404);
      }
      const deptId = await app.get(DeptService).create(system(), { deptName: 'a' });
      const { rows } = await app.get(DeptListService).list(system(), {});
      expect(rows).toMatchObject([{ deptId, deptName: 'a', hasChildren: false }]);
      const id = await app.get(TenantService).create(system(), { tenantName: 'b' });
      const tenants = await app.get(TenantListService).list(system(), {});
      expect(tenants.rows.map((tenant) => tenant.id)).toContain(id);
      const [format] = FORMATS;
      const file = { format: format!, body: [Buffer.from('{"path":"c"}\n')], language: 'en' as const };
      expect(await app.get(DeptTransferService).import(system(), file)).toMatchObject({ created: 1 });
    });
  });

  it('a host chooses options that come later', async () => {
    @Injectable()
    class Settings {
      readonly timeZone = 'America/New_York';
    }
    @Module({ providers: [Settings], exports: [Settings] })
    class SettingsModule {}
    const meter = { unitBegan: jest.fn(), unitRetried: jest.fn(), unitGaveUp: jest.fn() };
    const tenantry = TenantryModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: ({ timeZone }: Settings): Promise<TenantryOptions> =>
        Promise.resolve({
          principalResolver,
          userDirectory: 'none',
          timeZone,
          clock: { now: () => new Date('2026-01-01T00:00:00Z') },
          meter,
        }),
    });
    await during({ imports: [tenantry] }, async (host) => {
      await expectWorking(host);
      const { createTime } = await host.app.get(DeptService).get(system(), 1);
      expect(createTime).toBe('2025-12-31 19:00:00');
      expect(meter.unitBegan).toHaveBeenCalledWith(expect.any(Number));
      expect(meter.unitGaveUp).not.toHaveBeenCalled();
    });
  });

  it('a host chooses no routes and a DataSource by name with options that come later', async () => {
    const tenantry = TenantryModule.forRootAsync({
      useFactory: () => ({ principalResolver, userDirectory: 'none' }),
      controllers: false,
      dataSource: 'org',
    });
    const work = async (host: Host): Promise<void> => {
      expect((await host.as().get(DEPTS)).status).toBe(404);
      const deptId = await host.app.get(DeptService).create(system(), {});
      expect(await deptRow(host.dataSource, deptId)).toMatchObject({ deptId });
    };
    await during({ imports: [tenantry] }, work, { name: 'org' });
  });

  it('a host that names another DataSource than there is does not start', async () => {
    const tenantry = TenantryModule.forRoot({
      principalResolver,
      userDirectory: 'none',
      dataSource: 'nowhere',
    });
    await expect(Host.start({ imports: [tenantry] })).rejects.toThrow(/nowhereDataSource/);
  });

  it('a host chooses another place for the routes', async () => {
    const imports = [
      TenantryModule.forRoot({ principalResolver, userDirectory: 'none' }),
      RouterModule.register([{ path: 'org', children: [DeptModule, TenantModule] }]),
    ];
    await during({ imports }, async (host) => {
      expect((await host.as().get(DEPTS)).status).toBe(404);
      const made = await host.as().post(`/org${DEPTS}`, { deptName: 'moved' });
      expect(made.headers.location).toMatch(/^\/org\/system\/dept-api\/\d+$/);
      expect((await host.as().get(made.headers.location!)).body.data).toMatchObject({ deptName: 'moved' });
      const { headers } = await host.as().post('/org/system/tenant-api', { tenantName: 'moved' });
      expect((await host.as().get(headers.location!)).body.data).toMatchObject({ tenantName: 'moved' });
    });
  });

  it('a host chooses a resolver that answers later', async () => {
    class LateResolver extends PrincipalResolver {
      readonly #headers = new HeaderResolver();
      asked = 0;

      override async resolve(request: Request): Promise<Principal | null> {
        this.asked += 1;
        await nextTurn();
        if (request.headers['x-user'] === 'ghost') throw new Error('The directory is away.');
        return this.#headers.resolve(request);
      }
    }
    const late = new LateResolver();
    await during(
      { imports: [TenantryModule.forRoot({ principalResolver: late, userDirectory: 'none' })] },
      async (host) => {
        await expectWorking(host);
        expect((await host.anonymous.get(DEPTS)).status).toBe(401);
        expect((await host.as({ roles: ['member'] }).post(DEPTS, {})).status).toBe(403);
        expect((await host.as({ username: 'ghost' }).get(DEPTS)).status).toBe(500);
        const before = late.asked;
        await host.as().get(DEPTS);
        expect(late.asked - before).toBe(1);
      },
    );
  });

  it('a host chooses a directory of its own users, whose departments are not deleted', async () => {
    class HostUsers extends UserDirectory {
      override async findOccupied(
        { tenantId }: RequestContext,
        deptIds: readonly number[],
        manager: EntityManager,
      ): Promise<number[]> {
        const users = await manager.findBy(HostUserEntity, { tenantId, deptId: In([...deptIds]) });
        return users.map(({ deptId }) => deptId);
      }

      override countUsers({ tenantId }: RequestContext, manager: EntityManager): Promise<number> {
        return manager.countBy(HostUserEntity, { tenantId });
      }
    }
    const tenantry = TenantryModule.forRoot({ principalResolver, userDirectory: new HostUsers() });
    await during({ imports: [tenantry] }, async (host) => {
      const [full, empty] = [await aDept(host.as()), await aDept(host.as())];
      await host.dataSource.manager.insert(HostUserEntity, { tenantId: '000000', deptId: full });
      const refused = await host.as().delete(`${DEPTS}/${full},${empty}`);
      expectRefused(refused, 409, 'DEPT_HAS_USERS');
      expect(refused.refusal.ids).toEqual([full]);
      expect((await host.as().delete(`${DEPTS}/${empty}`)).status).toBe(200);
      expect(await deptRow(host.dataSource, full)).toMatchObject({ delFlag: '0' });
      expect((await host.as().get(ENTITLEMENT)).body.data).toMatchObject({
        accounts: { limit: -1, used: 1 },
      });
    });
  });

  it('a host that has no users in departments says so in one word', async () => {
    const tenantry = TenantryModule.forRoot({ principalResolver, userDirectory: 'none' });
    await during({ imports: [tenantry] }, async (host) => {
      expect((await host.as().delete(`${DEPTS}/${await aDept(host.as())}`)).status).toBe(200);
      expect((await host.as().get(ENTITLEMENT)).body.data).toMatchObject({
        accounts: { limit: -1, used: 0 },
      });
    });
  });

  it('a host chooses guards of its own before ours, as classes or instances, which it may have made itself', async () => {
    @Injectable()
    class Doorbell {
      rung = 0;
    }
    @Injectable()
    class OwnGuard implements CanActivate {
      constructor(private readonly doorbell: Doorbell) {}
      canActivate(context: ExecutionContext): boolean {
        const request = context.switchToHttp().getRequest<Request>();
        this.doorbell.rung += 1;
        request.user = { subject: 's', tenantId: '000000', username: 'u', roles: ['member'] };
        return request.headers['x-key'] === 'right';
      }
    }
    const plain: CanActivate = { canActivate: () => of(true) };
    const byUser = { resolve: ({ user }: { user?: unknown }) => (user as Principal | undefined) ?? null };
    const tenantry = TenantryModule.forRoot({
      principalResolver: byUser,
      userDirectory: 'none',
      guards: [OwnGuard, plain],
    });
    await during({ imports: [tenantry], providers: [OwnGuard, Doorbell] }, async ({ app, anonymous }) => {
      expectRefused(await anonymous.get(DEPTS), 403, 'ROLE_REQUIRED');
      expect((await anonymous.get(DEPTS, { 'x-key': 'right' })).status).toBe(200);
      expectRefused(await anonymous.post(DEPTS, {}, { 'x-key': 'right' }), 403, 'ROLE_REQUIRED');
      expect(app.get(Doorbell).rung).toBe(3);
    });
  });

  it('a host chooses the language of messages for callers who prefer none', async () => {
    const tenantry = TenantryModule.forRoot({ principalResolver, userDirectory: 'none', language: 'en' });
    await during({ imports: [tenantry] }, async ({ anonymous }) => {
      const messageTo = async (languages?: string): Promise<unknown> =>
        (await anonymous.get(DEPTS, languages === undefined ? {} : { 'accept-language': languages })).body
          .msg;
      const [none, french, chinese] = [await messageTo(), await messageTo('fr'), await messageTo('zh-CN')];
      expect([none, french]).toEqual([expect.stringMatching(/^[A-Z]/), none]);
      expect(chinese).not.toBe(none);
    });
  });
});
