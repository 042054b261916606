import {
  BadRequestException,
  Catch,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
  Param,
  ParseIntPipe,
  UseFilters,
  UseGuards,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { Request, Response } from 'express';
import { Ctx, DeptDto, DeptService, RequestContext, TenantryModule, TenantScoped } from '../../src/index';
import { aDept } from '../../src/server/testing';
import { expectInvalid, expectRefused } from '../support/refusals';
import { HeaderResolver, Host, system } from '../support/host';
import { aTenantRow, deptRow } from '../support/seeds';

class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException('closed today');
  }
}

/** The host's own global guard: it refuses with the status that a header asks for. */
class MoodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const status = context.switchToHttp().getRequest<Request>().headers['x-mood'];
    if (status !== undefined) throw new HttpException('not in this mood', Number(status));
    return true;
  }
}

@Catch(HttpException)
class HostFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(error.getStatus()).json({ host: true, told: error.getResponse() });
  }
}

@Controller('host')
class HostController {
  constructor(private readonly depts: DeptService) {}

  @Get('open')
  open(): object {
    return { hello: 'world' };
  }

  @Get('wrong')
  wrong(): never {
    throw new BadRequestException('not like this');
  }

  @Get('broken')
  broken(): never {
    throw new Error('a secret of the host');
  }

  @UseGuards(ClosedGuard)
  @Get('closed')
  closed(): string {
    return 'never';
  }

  @TenantScoped()
  @Get('depts/:id')
  dept(@Ctx() ctx: RequestContext, @Param('id', ParseIntPipe) id: number): Promise<DeptDto> {
    return this.depts.get(ctx, id);
  }

  @UseFilters(HostFilter)
  @Get('filtered/:id')
  filtered(@Param('id', ParseIntPipe) id: number): Promise<void> {
    return this.depts.delete(system(), [id]);
  }

  @Get('unscoped')
  unscoped(@Ctx() ctx: RequestContext): string {
    return ctx.tenantId;
  }
}

describe('a host that imports TenantryModule', () => {
  let host: Host;
  const principalResolver = new HeaderResolver();

  beforeAll(async () => {
    host = await Host.start({
      imports: [TenantryModule.forRoot({ principalResolver, userDirectory: 'none' })],
      controllers: [HostController],
      providers: [{ provide: APP_GUARD, useClass: MoodyGuard }],
    });
  });
  afterAll(() => host.stop());

  const json = async (path: string): Promise<[number, unknown]> => {
    const { status, text } = await host.anonymous.get(path);
    return [status, JSON.parse(text)];
  };

  describe('in its own routes', () => {
    it('a route of the host answers without a token and without our envelope', async () => {
      expect(await json('/host/open')).toEqual([200, { hello: 'world' }]);
    });

    it('a route of the host keeps its own errors', async () => {
      const wrong = { statusCode: 400, error: 'Bad Request', message: 'not like this' };
      expect(await json('/host/wrong')).toEqual([400, wrong]);
      const broken = { statusCode: 500, message: 'Internal server error' };
      expect(await json('/host/broken')).toEqual([500, broken]);
      expect(await json('/nowhere')).toMatchObject([404, { message: 'Cannot GET /nowhere' }]);
    });

    it('a route of the host keeps its own guards', async () => {
      expect(await json('/host/closed')).toMatchObject([403, { message: 'closed today' }]);
    });

    it('a route of the host gets the context of the caller where a handler is tenant-scoped', async () => {
      const tenantId = await aTenantRow(host.dataSource);
      const deptId = await aDept(host.as({ tenantId }), { deptName: 'mine' });
      const read = await host.as({ tenantId }).get(`/host/depts/${deptId}`);
      expect([read.status, JSON.parse(read.text)]).toMatchObject([200, { deptName: 'mine', tenantId }]);
      expect((await host.as().get(`/host/depts/${deptId}`)).status).toBe(404);
      expect((await host.anonymous.get(`/host/depts/${deptId}`)).status).toBe(401);
      expect((await host.as({ tenantId: '999999' }).get(`/host/depts/${deptId}`)).status).toBe(403);
      expect((await host.as().get('/host/unscoped')).status).toBe(500);
    });

    it('a route of the host answers refusals of a service with their status, in the words of Nest', async () => {
      const { status, text } = await host.as().get('/host/depts/999999');
      const told = { statusCode: 404, reason: 'DEPT_NOT_FOUND', message: 'There is no such department' };
      expect([status, JSON.parse(text)]).toEqual([404, told]);
    });

    it('a route of the host answers refusals of a service through its own filter, with all that they tell', async () => {
      const deptId = await aDept(host.as());
      await aDept(host.as(), { parentId: deptId });
      const told = { statusCode: 409, reason: 'DEPT_HAS_CHILDREN', ids: [deptId] };
      expect(await json(`/host/filtered/${deptId}`)).toMatchObject([409, { host: true, told }]);
    });
  });

  describe('in our routes', () => {
    it('a route of Tenantry in a host answers as the standalone service does', async () => {
      const answer = await host.as({ username: 'ann' }).post('/system/dept-api', { deptName: '总公司' });
      expect([answer.status, answer.body]).toEqual([200, { code: 200, msg: '操作成功', data: null }]);
      const read = await host.as().get(answer.headers.location!);
      expect(read.body.data).toMatchObject({ deptName: '总公司', createBy: 'ann', tenantId: '000000' });
      expect(read.headers.etag).toBe('"0"');
      const row = await deptRow(host.dataSource, (read.body.data as DeptDto).deptId);
      expect(row).toMatchObject({ deptName: '总公司', tenantId: '000000' });
    });

    it('a route of Tenantry in a host refuses in our envelope', async () => {
      const nobody = await host.anonymous.get('/system/dept-api/1');
      expectRefused(nobody, 401, 'TOKEN_MISSING');
      const member = await host.as({ roles: ['member'] }).post('/system/dept-api', {});
      expectRefused(member, 403, 'ROLE_REQUIRED');
      const long = await host.as().post('/system/dept-api', { deptName: 'x'.repeat(65) });
      expectInvalid(long, 'deptName');
    });

    it.each([
      [400, 'MALFORMED_REQUEST'],
      [401, 'TOKEN_INVALID'],
      [402, 'HTTP_402'],
      [403, 'ROLE_REQUIRED'],
      [423, 'HTTP_423'],
      [429, 'RATE_LIMITED'],
      [500, 'INTERNAL_ERROR'],
      [503, 'HTTP_503'],
    ])(
      "a route of Tenantry keeps the status %d of the host's guard, in our envelope",
      async (status, reason) => {
        const answer = await host.as().get('/system/dept-api', { 'x-mood': String(status) });
        expect([answer.status, answer.body.code, answer.refusal.reason]).toEqual([status, status, reason]);
        if (reason.startsWith('HTTP_')) expect(answer.body.msg).toBe('not in this mood');
        expect(await json('/host/open')).toEqual([200, { hello: 'world' }]);
      },
    );
  });

  it('a host acts for the system where no user asked', async () => {
    const depts = host.app.get(DeptService);
    const tenantId = await aTenantRow(host.dataSource);
    const deptId = await depts.create(system(tenantId), { deptName: 'seeded' });
    expect(await depts.get(system(tenantId), deptId)).toMatchObject({ createBy: 'system', tenantId });
    await expect(depts.get(system(), deptId)).rejects.toMatchObject({ row: { reason: 'DEPT_NOT_FOUND' } });
  });
});
