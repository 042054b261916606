import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  HttpException,
  Injectable,
  Logger,
  Module,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import type { Request } from 'express';
import { of } from 'rxjs';
import { In, type EntityManager } from 'typeorm';
import * as library from '../../src/index';
import {
  DeptListService,
  DeptModule,
  DeptService,
  DeptServicesModule,
  DeptTransferService,
  FORMATS,
  JournalServicesModule,
  PrincipalResolver,
  TenantListService,
  TenantModule,
  TenantryModule,
  TenantService,
  TenantServicesModule,
  UserDirectory,
  type AnswerForm,
  type Principal,
  type RequestContext,
  type TenantryOptions,
} from '../../src/index';
import { aDept, type Answer } from '../../src/server/testing';
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

  it('a host chooses who may do what, by the names of operations', async () => {
    const asked: string[] = [];
    const CODES: Record<string, string> = { listDepts: 'system:dept:list', createDept: 'system:dept:add' };
    const tenantry = TenantryModule.forRoot({
      principalResolver,
      userDirectory: 'none',
      authorize: async (ctx, operationId, request) => {
        asked.push(`${ctx.tenantId} ${ctx.username} ${operationId}`);
        await nextTurn();
        if (operationId === 'deleteDepts') throw new HttpException({ code: 402, message: 'not paid' }, 200);
        return String(request.headers['x-codes'])
          .split(' ')
          .includes(CODES[operationId] ?? 'nothing');
      },
    });
    await during({ imports: [tenantry] }, async (host) => {
      const may = (codes: string) => host.as({ username: 'ann' }).with({ 'x-codes': codes });
      expect((await may('system:dept:add').post(DEPTS, {})).status).toBe(200);
      expect((await may('system:dept:list').get(DEPTS)).status).toBe(200);
      expectRefused(await may('system:dept:list').post(DEPTS, {}), 403, 'ROLE_REQUIRED');
      expectRefused(await may('system:dept:list').get('/system/tenant-api'), 403, 'ROLE_REQUIRED');
      expectRefused(await may('').delete(`${DEPTS}/1`), 402, 'HTTP_402');
      const names = 'createDept listDepts createDept listTenants deleteDepts'.split(' ');
      expect(asked).toEqual(names.map((name) => `000000 ann ${name}`));
      const member = host.as({ roles: ['member'] }).with({ 'x-codes': 'system:dept:add' });
      expectRefused(await member.post(DEPTS, {}), 403, 'ROLE_REQUIRED');
      expectRefused(await host.anonymous.get(DEPTS), 401, 'TOKEN_MISSING');
      expect(asked).toHaveLength(names.length);
    });
  });

  describe('of another form of answers', () => {
    const ofHost: AnswerForm = ({ code, msg, data }, request) => ({
      data,
      code,
      message: msg,
      path: request.path,
    });
    const json = ({ status, text }: Answer): [number, unknown] => [status, JSON.parse(text)];

    it.each(['match-code', 'always-200'] as const)(
      'a host chooses another form of all answers: %s',
      async (httpStatusMode) => {
        const options = { userDirectory: 'none', envelope: ofHost, httpStatusMode } as const;
        const tenantry = TenantryModule.forRoot({ principalResolver, ...options });
        await during({ imports: [tenantry] }, async (host) => {
          const api = host.as();
          const made = await api.post(DEPTS, { deptName: 'a' });
          const done = { data: null, code: 200, message: '操作成功', path: DEPTS };
          expect(json(made)).toEqual([200, done]);
          const at = made.headers.location!;
          const read = await api.get(at);
          expect(json(read)).toMatchObject([200, { data: { deptName: 'a' }, code: 200, path: at }]);
          const tree = await api.get(`${DEPTS}/tree`);
          for (const [path, answer] of [[at, read] as const, [`${DEPTS}/tree`, tree] as const])
            expect((await api.get(path, { 'if-none-match': String(answer.headers.etag) })).status).toBe(304);
          const status = (code: number) => (httpStatusMode === 'always-200' ? 200 : code);
          expect(json(await api.get(`${DEPTS}/999`))).toMatchObject([
            status(404),
            { data: { reason: 'DEPT_NOT_FOUND' }, code: 404, message: expect.any(String) as string },
          ]);
          expect(json(await host.anonymous.get(DEPTS))).toMatchObject([
            status(401),
            { data: { reason: 'TOKEN_MISSING' }, code: 401, path: DEPTS },
          ]);
          const file = '{"path":"a/b"}\n{"path":"c"}\n';
          const type = { 'content-type': 'application/x-ndjson' };
          const report = { data: { created: 2 }, code: 200, path: `${DEPTS}/import` };
          const tried = await api.post(`${DEPTS}/import?dryRun=true`, file, type);
          expect(json(tried)).toMatchObject([200, report]);
          const { data } = JSON.parse(tried.text) as { data: { lines: object[] } };
          expect(data.lines).toHaveLength(2);
          expect(json(await api.post(`${DEPTS}/import`, file, type))).toMatchObject([200, report]);
          expect((await api.get(`${DEPTS}/export`)).text).toMatch(/^\{"path":"a"/);
        });
      },
    );

    it('a host may encrypt answers, and one that fails to form them is told in the log', async () => {
      const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const envelope: AnswerForm = ({ code, data }, { headers }) => {
        if (headers['x-form'] === 'none') return undefined;
        if (headers['x-form'] === 'broken') throw new Error('a bug of the host');
        return { sealed: Buffer.from(JSON.stringify({ code, data })).toString('base64') };
      };
      const tenantry = TenantryModule.forRoot({ principalResolver, userDirectory: 'none', envelope });
      await during({ imports: [tenantry] }, async (host) => {
        const open = ({ text }: Answer): unknown =>
          JSON.parse(Buffer.from((JSON.parse(text) as { sealed: string }).sealed, 'base64').toString());
        const type = { 'content-type': 'application/x-ndjson' };
        const tried = await host.as().post(`${DEPTS}/import?dryRun=true`, '{"path":"a"}\n', type);
        expect(open(tried)).toMatchObject({ code: 200, data: { created: 1, lines: [{ line: 1 }] } });
        expect(open(await host.anonymous.get(DEPTS))).toMatchObject({ data: { reason: 'TOKEN_MISSING' } });
        for (const form of ['none', 'broken']) {
          expectRefused(await host.as().get(DEPTS, { 'x-form': form }), 500, 'INTERNAL_ERROR');
          expectRefused(await host.anonymous.get(DEPTS, { 'x-form': form }), 401, 'TOKEN_MISSING');
        }
        expect(errors).toHaveBeenCalledWith(expect.anything(), 'the option envelope failed');
      });
      errors.mockRestore();
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

  it('the guide names every service that a host can inject, with all of its methods', () => {
    const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'embedding.md'), 'utf8').split('\n');
    const exported = [DeptServicesModule, TenantServicesModule, JournalServicesModule].flatMap(
      (module) => Reflect.getMetadata('exports', module) as (new () => object)[],
    );
    const services = exported.filter((service) => Object.values<unknown>(library).includes(service));
    expect(services.length).toBeGreaterThan(8);
    for (const { name, prototype } of services) {
      const row = guide.find((line) => line.startsWith(`| \`${name}\``)) ?? '';
      const methods = Object.getOwnPropertyNames(prototype).filter((method) => method !== 'constructor');
      const missing = methods.filter((method) => !row.includes(`\`${method}\``));
      expect([name, missing]).toEqual([name, []]);
    }
  });
});
