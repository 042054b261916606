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
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Ctx, DeptDto, DeptService, RequestContext, TenantryModule, TenantScoped } from '../../src/index';
import { aDept } from '../../src/server/testing';
import { expectInvalid, expectRefused } from '../support/refusals';
import { HeaderResolver, Host, system } from '../support/host';
import { aTenantRow, deptRow } from '../support/seeds';
import { until } from '../support/until';

class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException('closed today');
  }
}

/** Refuses with the status that a header asks for, as an exception that carries what another header has. */
function refuseAs(mood: string, context: ExecutionContext): void {
  const { [mood]: status, 'x-code': code } = context.switchToHttp().getRequest<Request>().headers;
  if (status === undefined) return;
  const told = code === undefined ? 'not in this mood' : (JSON.parse(String(code)) as object);
  throw Object.assign(new HttpException(told, Number(status)), { code: (told as { own?: unknown }).own });
}

/** The host's own global guard. */
class MoodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    refuseAs('x-mood', context);
    return true;
  }
}

/** Stands in the option `guards`. */
const guardOfOption: CanActivate = {
  canActivate: (context) => {
    refuseAs('x-own-mood', context);
    return true;
  },
};

class MoodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    refuseAs('x-late-mood', context);
    return next.handle();
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
      imports: [
        TenantryModule.forRoot({ principalResolver, userDirectory: 'none', guards: [guardOfOption] }),
      ],
      controllers: [HostController],
      providers: [
        { provide: APP_GUARD, useClass: MoodyGuard },
        { provide: APP_INTERCEPTOR, useClass: MoodyInterceptor },
      ],
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

    it.each([
      ['x-mood', 200, undefined, 403, 'ROLE_REQUIRED'],
      ['x-own-mood', 200, undefined, 403, 'ROLE_REQUIRED'],
      ['x-late-mood', 200, undefined, 500, 'INTERNAL_ERROR'],
      ['x-mood', 200, { code: 401, message: 'sign in' }, 401, 'TOKEN_INVALID'],
      ['x-own-mood', 200, { code: 401, message: 'sign in' }, 401, 'TOKEN_INVALID'],
      ['x-late-mood', 200, { code: 429, message: 'slowly' }, 429, 'RATE_LIMITED'],
      ['x-mood', 200, { code: '401', message: 'sign in' }, 401, 'TOKEN_INVALID'],
      ['x-mood', 200, { own: 423, message: 'locked' }, 423, 'HTTP_423'],
      ['x-mood', 200, { code: 1101, message: 'a number of the house' }, 403, 'ROLE_REQUIRED'],
      ['x-mood', 200, { code: 200 }, 403, 'ROLE_REQUIRED'],
      ['x-mood', 302, { code: 'EACCES' }, 403, 'ROLE_REQUIRED'],
      ['x-mood', 1101, undefined, 403, 'ROLE_REQUIRED'],
      ['x-mood', 404, { code: 401 }, 404, 'ROUTE_NOT_FOUND'],
    ])(
      'a route of Tenantry never refuses with a status of success: %s %d %j is %d',
      async (mood, sent, told, status, reason) => {
        const code = told === undefined ? {} : { 'x-code': JSON.stringify(told) };
        const answer = await host.as().get('/system/dept-api', { [mood]: String(sent), ...code });
        expect([answer.status, answer.body.code, answer.refusal.reason]).toEqual([status, status, reason]);
        if (reason === 'HTTP_423') expect(answer.body.msg).toBe('locked');
        expect(answer.refusal.requestId).toBe(answer.headers['x-request-id']);
      },
    );

    it('a route of Tenantry asks the guards of the host again after a wait, and refuses as they do', async () => {
      const guard = jest.spyOn(guardOfOption, 'canActivate');
      const { headers } = await host.as().get('/system/dept-api');
      guard
        .mockImplementationOnce(() => true)
        .mockImplementationOnce(() => {
          throw new HttpException('the house says no', 200);
        });
      const waiting = host
        .as()
        .get(`/system/change-api?wait=5&after=${encodeURIComponent(String(headers['x-change-cursor']))}`);
      await until(() => guard.mock.calls.length === 2);
      await host.app.get(DeptService).create(system(), {});
      const refused = await waiting;
      expectRefused(refused, 403, 'ROLE_REQUIRED');
      expect(refused.body.msg).toBe('the house says no');
      guard.mockRestore();
    });
  });

  it('a host acts for the system where no user asked', async () => {
    const depts = host.app.get(DeptService);
    const tenantId = await aTenantRow(host.dataSource);
    const deptId = await depts.create(system(tenantId), { deptName: 'seeded' });
    expect(await depts.get(system(tenantId), deptId)).toMatchObject({ createBy: 'system', tenantId });
    await expect(depts.get(system(), deptId)).rejects.toMatchObject({ row: { reason: 'DEPT_NOT_FOUND' } });
  });
});
