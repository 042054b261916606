import { createHash } from 'node:crypto';
import {
  BadRequestException,
  Body,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  Get,
  HttpStatus,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  ValidationPipe,
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestModule,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { plainToInstance } from 'class-transformer';
import { IsInt, validate } from 'class-validator';
import type { NextFunction, Request, Response } from 'express';
import { map, of, tap, type Observable } from 'rxjs';
import { Ctx, RequestContext, TenantryModule, TenantScoped } from '../../src/index';
import { HeaderResolver, Host } from '../support/host';

const PATH = '/system/dept-api';
const EMPTY_PAGE = '{"code":200,"msg":"操作成功","data":{"rows":[],"nextCursor":null,"hasMore":false}}';

class CountDto {
  @IsInt() count!: number;
}

@Controller('host')
class HostController {
  @Get()
  get(): object {
    return { own: true };
  }

  @TenantScoped()
  @Get('tenant')
  tenant(@Ctx() ctx: RequestContext): object {
    return { tenantId: ctx.tenantId };
  }

  @Post()
  post(@Body() { count }: CountDto): object {
    return { count };
  }
}

/** As nestjs-zod does it: other classes than its own pass. */
class ZodLikePipe implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const { isZodDto, create } = (metatype ?? {}) as {
      isZodDto?: boolean;
      create?: (value: unknown) => unknown;
    };
    return isZodDto ? create?.(value) : value;
  }
}

/** As the documentation of Nest has it, under "Class validator": it asks for the class, not for the kind of parameter. */
class HandWrittenPipe implements PipeTransform {
  async transform(value: unknown, { metatype }: ArgumentMetadata): Promise<unknown> {
    const plain: unknown[] = [undefined, String, Boolean, Number, Array, Object];
    if (plain.includes(metatype)) return value;
    const errors = await validate(plainToInstance(metatype as Type<object>, value));
    if (errors.length > 0) throw new BadRequestException('Validation failed');
    return value;
  }
}

const PIPES: Record<string, PipeTransform> = {
  ValidationPipe: new ValidationPipe(),
  whitelist: new ValidationPipe({ whitelist: true }),
  forbidNonWhitelisted: new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }),
  enableImplicitConversion: new ValidationPipe({
    transform: true,
    transformOptions: { enableImplicitConversion: true },
  }),
  errorHttpStatusCode: new ValidationPipe({
    transform: true,
    errorHttpStatusCode: HttpStatus.UNPROCESSABLE_ENTITY,
  }),
  'exceptionFactory, as of nestjs-i18n': new ValidationPipe({
    transform: true,
    exceptionFactory: () => new Error('the words of the host'),
  }),
  validateCustomDecorators: new ValidationPipe({ validateCustomDecorators: true, forbidUnknownValues: true }),
  'a pipe like that of nestjs-zod': new ZodLikePipe(),
  'a pipe written by hand': new HandWrittenPipe(),
};

function hostWith(provide: string, ...values: unknown[]): Promise<Host> {
  return Host.start({
    imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
    controllers: [HostController],
    providers: values.map((value) =>
      typeof value === 'function' ? { provide, useClass: value as Type } : { provide, useValue: value },
    ),
  });
}

/** The answers to requests that pipes could change, without what is made at random. */
async function answersOf(host: Host): Promise<unknown[]> {
  const api = host.as();
  const made = await api.post(PATH, { deptName: ' a ', orderNum: 1, unknown: { deep: 1 } });
  const at = String(made.headers.location);
  const read = await api.get(at);
  const { data } = read.body as unknown as { data: object };
  const asked = [
    await api.put(PATH, { ...data, deptName: 'b' }),
    await api.post(PATH, { deptName: 1 }),
    await api.post(PATH, { orderNum: '1' }),
    await api.post(PATH, { status: true }),
    await api.post(PATH, []),
    await api.post(PATH, undefined),
    await api.patch(at, { email: 'nobody' }),
    await api.patch(at, { parentId: '0', orderNum: 2 }),
    await api.get(`${PATH}/x`),
    await api.get(`${PATH}/${'9'.repeat(20)}`),
    await api.get(`${PATH}?limit=x`),
    await api.get(`${PATH}?limit=1&status=2`),
    await api.get(`${PATH}?limit=1&unknown=1`),
    await api.put(`${PATH}/order`, { deptIds: 'x' }),
    await api.delete(`${PATH}/1,x`),
    await api.post('/system/tenant-api', { tenantName: 't', quotaBo: { enterpriseQuery: '5' } }),
    await api.post('/system/tenant-api', {}),
    await api.get(at),
  ];
  const plain = (text: string) =>
    text.replace(/"(requestId|createTime|updateTime|nextCursor)":"[^"]*"/g, '"$1":""');
  return [made.status, ...asked.map(({ status, text }) => [status, plain(text)])];
}

describe('what a host has for all of its routes', () => {
  let without: unknown[];
  let file: string;

  beforeAll(async () => {
    const host = await hostWith(APP_PIPE);
    without = await answersOf(host);
    file = (await host.as().get(`${PATH}/export`)).text;
    await host.stop();
  });

  describe('pipes', () => {
    it.each(Object.keys(PIPES))(
      'a pipe of the host does not touch what is sent to Tenantry: %s',
      async (name) => {
        const host = await hostWith(APP_PIPE, PIPES[name]);
        expect(await answersOf(host)).toEqual(without);
        expect((await host.as().get('/host/tenant')).text).toBe('{"tenantId":"000000"}');
        const own = await host.anonymous.post('/host', { count: 'x' });
        if (name !== 'a pipe like that of nestjs-zod') expect(own.status).toBeGreaterThanOrEqual(400);
        await host.stop();
      },
    );
  });

  describe('interceptors', () => {
    @Injectable()
    class WrappingInterceptor implements NestInterceptor {
      intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
        const response = context.switchToHttp().getResponse<Response>();
        return next.handle().pipe(
          map((result: unknown) => ({ success: true, result })),
          tap(() => response.setHeader('X-Host', 'was here')),
        );
      }
    }

    @Injectable()
    class FailingInterceptor implements NestInterceptor {
      intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
        return next.handle().pipe(
          map(() => {
            throw new Error('a bug of the host');
          }),
        );
      }
    }

    /** As awesome-nest-boilerplate does it, for translations: it asks for metadata of every answer. */
    @Injectable()
    class ObjectsOnlyInterceptor implements NestInterceptor {
      intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
        return next.handle().pipe(
          map((result: object) => {
            Reflect.getMetadataKeys(result);
            if ('data' in result) result.data = 'of the host';
            return result;
          }),
        );
      }
    }

    it('an interceptor that takes every answer for an object finds one, also where the text is made already', async () => {
      const host = await hostWith(APP_INTERCEPTOR, ObjectsOnlyInterceptor);
      expect(await answersOf(host)).toEqual(without);
      const api = host.as();
      const asked = ['', '/tree', '/export', '/1', '/1/ancestors', '/1/history'].map((rest) =>
        api.get(PATH + rest),
      );
      const others = ['/system/change-api', '/system/quota-api', '/system/tenant-api'].map((path) =>
        api.get(path),
      );
      const answers = await Promise.all([...asked, ...others]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(answers.filter(({ text }) => text.includes('of the host'))).toEqual([]);
      await host.stop();
    });

    it('an interceptor wraps the answers of the host, not those of Tenantry', async () => {
      const host = await hostWith(APP_INTERCEPTOR, WrappingInterceptor, ClassSerializerInterceptor);
      expect(JSON.parse((await host.anonymous.get('/host')).text)).toEqual({
        success: true,
        result: { own: true },
      });
      expect(await answersOf(host)).toEqual(without);
      const api = host.as();
      const read = await api.get(`${PATH}?limit=1`);
      expect(read.headers).toMatchObject({ 'x-host': 'was here', etag: expect.any(String) as string });
      expect(
        (await api.with({ 'if-none-match': String(read.headers.etag) }).get(`${PATH}?limit=1`)).status,
      ).toBe(304);
      const exported = await api.get(`${PATH}/export`);
      expect(exported.text).toBe(file);
      expect(exported.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
      expect(JSON.parse((await api.get(`${PATH}/tree`)).text)).toMatchObject({
        code: 200,
        data: { truncated: false },
      });
      const drawing = await api.get(`${PATH}/tree`, { accept: 'image/svg+xml' });
      expect([drawing.headers['content-type'], drawing.text.slice(0, 4)]).toEqual([
        ...['image/svg+xml; charset=utf-8', '<svg'],
      ]);
      await host.stop();
    });

    it('an interceptor that keeps answers, and gives them again by itself, gives what was sent', async () => {
      const kept = new Map<string, unknown>();
      @Injectable()
      class CachingInterceptor implements NestInterceptor {
        intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
          const { method, url } = context.switchToHttp().getRequest<Request>();
          if (kept.has(url)) return of(kept.get(url));
          return next.handle().pipe(tap((answer) => method === 'GET' && kept.set(url, answer)));
        }
      }
      const host = await hostWith(APP_INTERCEPTOR, CachingInterceptor);
      await host.as().post(PATH, { deptName: 'a' });
      for (const path of [PATH, `${PATH}/tree`, `${PATH}/1`, '/system/quota-api']) {
        const first = await host.as().get(path);
        expect(kept.has(path)).toBe(true);
        expect((await host.as().get(path)).text).toBe(first.text);
      }
      await host.stop();
    });

    it.each(['match-code', 'always-200'] as const)(
      'an interceptor that fails is never a 304: %s',
      async (httpStatusMode) => {
        const host = await Host.start({
          imports: [
            TenantryModule.forRoot({
              principalResolver: new HeaderResolver(),
              userDirectory: 'none',
              httpStatusMode,
            }),
          ],
          providers: [{ provide: APP_INTERCEPTOR, useClass: FailingInterceptor }],
        });
        const tag = `"${createHash('sha1').update(EMPTY_PAGE).digest('base64url')}"`;
        const { body, headers } = await host.as().get(PATH, { 'if-none-match': tag });
        expect(body.code).toBe(500);
        expect(headers.etag).not.toBe(tag);
        await host.stop();
      },
    );

    it('an interceptor that fails is a failure, not the answer', async () => {
      const host = await hostWith(APP_INTERCEPTOR, FailingInterceptor);
      const { status, refusal } = await host.as().get(`${PATH}?limit=1`);
      expect([status, refusal.reason]).toEqual([500, 'INTERNAL_ERROR']);
      const drawing = await host.as().get(`${PATH}/tree`, { accept: 'image/svg+xml' });
      expect([drawing.status, drawing.headers['content-type']]).toEqual([
        ...[500, 'application/json; charset=utf-8'],
      ]);
      await host.stop();
    });
  });

  it('middleware that replaces methods of the response sees what Tenantry sends', async () => {
    const seen: unknown[] = [];
    @Module({})
    class LogModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        const see = (_: Request, response: Response, next: NextFunction): void => {
          const send = response.send.bind(response);
          response.send = (text: unknown) => {
            if (typeof text === 'string') seen.push(text);
            return send(text);
          };
          next();
        };
        consumer.apply(see).forRoutes('*path');
      }
    }
    const host = await Host.start({
      imports: [
        LogModule,
        TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' }),
      ],
      providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }],
    });
    const asked = [
      await host.as().get(PATH),
      await host.as().get(`${PATH}/tree`),
      await host.as().post(PATH, { deptName: 'a' }),
      await host.as().get(`${PATH}/999`),
      await host.anonymous.get(PATH),
    ];
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401]);
    expect(seen).toEqual(asked.map(({ text }) => text));
    await host.stop();
  });

  it('a guard of the host says itself how to sign in', async () => {
    class BasicGuard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', 'Basic realm="host"');
        throw new UnauthorizedException();
      }
    }
    const host = await hostWith(APP_GUARD, BasicGuard);
    const { status, headers } = await host.as().get(PATH);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Basic realm="host"']);
    await host.stop();
  });

  it('a provider of the host may allow no look at its fields, like the strict proxies of nestjs-cls', async () => {
    const proxy = new Proxy(
      {},
      {
        get: (_, name) => {
          if (name === 'constructor') throw new Error('This has not been resolved yet.');
          return undefined;
        },
      },
    );
    const host = await Host.start({
      imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
      providers: [{ provide: 'proxy', useValue: proxy }],
    });
    expect((await host.as().get(PATH)).status).toBe(200);
    await host.stop();
  });

  it('a filter of the host gets the errors of the host, not the refusals of Tenantry', async () => {
    @Catch()
    class EverythingFilter implements ExceptionFilter {
      catch(_: unknown, host: ArgumentsHost): void {
        host.switchToHttp().getResponse<Response>().status(418).json({ host: true });
      }
    }
    const host = await hostWith(APP_FILTER, EverythingFilter);
    expect((await host.anonymous.get('/nowhere')).status).toBe(418);
    const asked = [
      host.anonymous.get(PATH),
      host.as().get(`${PATH}/999`),
      host.as().post(PATH, { deptName: 1 }),
    ];
    expect((await Promise.all(asked)).map(({ status, refusal }) => [status, refusal.reason])).toEqual([
      [401, 'TOKEN_MISSING'],
      [404, 'DEPT_NOT_FOUND'],
      [400, 'INVALID_INPUT'],
    ]);
    await host.stop();
  });
});
