import 'reflect-metadata';
import { Readable } from 'node:stream';
import {
  Catch,
  Controller,
  createParamDecorator,
  Delete,
  Get,
  HttpCode,
  Injectable,
  Module,
  Patch,
  Post,
  Put,
  StreamableFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { map, type Observable } from 'rxjs';
import { operations } from '../operations';
import {
  bodyOf,
  callerOf,
  CHECKS,
  HttpError,
  JSON_TYPES,
  key,
  NOBODY,
  requireServed,
  setCommonHeaders,
  type Caller,
  type Claims,
  type Reply,
} from '../operations/operation';

const Public = Reflector.createDecorator<boolean>();
const Roles = Reflector.createDecorator<readonly string[]>();
const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Request>();

@Injectable()
class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() {
    // jsonwebtoken takes a KeyObject; the types of passport-jwt do not know it.
    const secretOrKey = key as unknown as Buffer;
    super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey, ...CHECKS });
  }

  validate(claims: Claims): Promise<Caller> {
    return callerOf(claims);
  }
}

@Injectable()
class JwtAuthGuard extends AuthGuard('jwt') {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> | Observable<boolean> {
    return this.reflector.get(Public, context.getHandler()) || super.canActivate(context);
  }
}

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.get(Public, context.getHandler())) return true;
    const allowed = this.reflector.get(Roles, context.getHandler());
    const { roles } = requestOf(context).user as Caller;
    return roles.some((role) => allowed.includes(role));
  }
}

/** Works for a tenant that is served, and puts what the handler answers into the envelope. */
@Injectable()
class TenantScopeInterceptor implements NestInterceptor<Reply> {
  async intercept(context: ExecutionContext, next: CallHandler<Reply>): Promise<Observable<unknown>> {
    const request = requestOf(context);
    request.user ??= NOBODY;
    if (request.user !== NOBODY) await requireServed(request.user as Caller);
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((reply) => {
        const body = bodyOf(reply, response);
        return body instanceof Readable ? new StreamableFile(body) : body;
      }),
    );
  }
}

@Catch()
class EnvelopeFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const code = error instanceof HttpError ? error.status : 500;
    response.status(code).json({ code, msg: String(error), data: null });
  }
}

const Ctx = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);
const Req = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context));

@Controller()
@UseGuards(JwtAuthGuard, RolesGuard)
@UseInterceptors(TenantScopeInterceptor)
@UseFilters(EnvelopeFilter)
class OperationsController {}

const METHODS = { get: Get, post: Post, put: Put, patch: Patch, delete: Delete };

// A handler for each operation, with the decorators that one would write at a method.
for (const { method, path, isPublic, handle } of operations) {
  const [handlers, name] = [OperationsController.prototype, `${method} ${path}`];
  const descriptor = { value: (caller: Caller, request: Request) => handle(caller, request) };
  Object.defineProperty(handlers, name, descriptor);
  for (const decorate of [METHODS[method](path), HttpCode(200), Public(isPublic), Roles(['tenant_admin'])])
    decorate(handlers, name, descriptor);
  Ctx()(handlers, name, 0);
  Req()(handlers, name, 1);
}

@Controller('health')
class HealthController {
  @Get('ready')
  ready(): string {
    return 'ready';
  }
}

/** The operations behind the four parts of the service's design, each as small as it can be: guards, interceptor, filter. */
@Module({
  imports: [PassportModule],
  controllers: [OperationsController, HealthController],
  providers: [JwtStrategy],
})
class SmallestModule {}

async function main(): Promise<void> {
  const options = { logger: ['error' as const], bodyParser: false };
  const app = await NestFactory.create<NestExpressApplication>(SmallestModule, options);
  app.disable('x-powered-by').disable('etag');
  app.use(setCommonHeaders);
  app.useBodyParser('json', { type: JSON_TYPES });
  await app.listen(process.env.PORT ?? '', process.env.HOST ?? '');
}

void main();
