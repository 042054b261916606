import 'reflect-metadata';
import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Query,
  Request,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { map, type Observable } from 'rxjs';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { In, Like, type Repository } from 'typeorm';
import { CreateDeptDto, ListQuery, UpdateDeptDto } from './dto';
import { Account, Dept, Tenant } from './entities';
import { accountView, deptView, tenantView } from './views';

interface Claims {
  readonly tenantId: string;
  readonly sub: string;
}

interface Caller {
  readonly tenantId: string;
  readonly username: string;
  readonly roles: readonly string[];
}

@Injectable()
class JwtStrategy extends PassportStrategy(Strategy) {
  constructor(@InjectRepository(Account) private readonly accounts: Repository<Account>) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: process.env.JWT_SECRET ?? '',
      issuer: 'tenantry',
      audience: 'tenantry',
    });
  }

  /** An account that was disabled since is refused. */
  async validate({ tenantId, sub }: Claims): Promise<Caller | null> {
    const where = { userId: Number(sub.slice('account:'.length)), tenantId, status: '0', delFlag: '0' };
    const account = await this.accounts.findOne({ where });
    return account && { tenantId, username: account.username, roles: account.roles.split(',') };
  }
}

@Injectable()
class AdminGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { user } = context.switchToHttp().getRequest<{ user: Caller }>();
    return user.roles.includes('tenant_admin');
  }
}

/** Refuses the callers of a tenant that is not served, and puts what is answered into the envelope. */
@Injectable()
class TenantInterceptor implements NestInterceptor {
  constructor(@InjectRepository(Tenant) private readonly tenants: Repository<Tenant>) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { user } = context.switchToHttp().getRequest<{ user: Caller }>();
    const where = { tenantId: user.tenantId, status: '0', delFlag: '0' };
    if (!(await this.tenants.findOne({ where }))) throw new ForbiddenException();
    return next.handle().pipe(map((data: unknown) => ({ code: 200, msg: '操作成功', data: data ?? null })));
  }
}

@Injectable()
class DeptService {
  constructor(@InjectRepository(Dept) private readonly depts: Repository<Dept>) {}

  async get({ tenantId }: Caller, deptId: number) {
    return deptView(await this.find(tenantId, deptId));
  }

  async list({ tenantId }: Caller, { limit, parentId }: ListQuery) {
    const where = { tenantId, delFlag: '0', ...(parentId !== undefined && { parentId }) };
    const found = await this.depts.find({
      where,
      order: { orderNum: 'ASC', deptId: 'ASC' },
      take: limit + 1,
    });
    const rows = found.slice(0, limit);
    const children = await this.depts.find({
      where: { tenantId, delFlag: '0', parentId: In(rows.map(({ deptId }) => deptId)) },
    });
    const parents = new Set(children.map(({ parentId }) => parentId));
    return {
      rows: rows.map((row) => ({ ...deptView(row), hasChildren: parents.has(row.deptId) })),
      hasMore: found.length > limit,
    };
  }

  async tree({ tenantId }: Caller) {
    const where = { tenantId, delFlag: '0' };
    const rows = await this.depts.find({ where, order: { orderNum: 'ASC', deptId: 'ASC' }, take: 5000 });
    const byParent = new Map<number, Dept[]>();
    for (const row of rows) byParent.set(row.parentId, [...(byParent.get(row.parentId) ?? []), row]);
    const childrenOf = (parentId: number): unknown[] =>
      (byParent.get(parentId) ?? []).map((row) => {
        const children = childrenOf(row.deptId);
        return { ...deptView(row), hasChildren: children.length > 0, children };
      });
    return { rows: childrenOf(0), truncated: false };
  }

  async create(caller: Caller, dto: CreateDeptDto): Promise<void> {
    const parent = await this.find(caller.tenantId, dto.parentId ?? 0);
    const place = { ancestors: `${parent.ancestors},${parent.deptId}`, depth: parent.depth + 1 };
    const life = {
      status: '0',
      delFlag: '0',
      createBy: caller.username,
      createTime: new Date(),
      updateBy: '',
    };
    await this.depts.save(
      Object.assign(this.depts.create(), life, dto, place, { tenantId: caller.tenantId }),
    );
  }

  async update(caller: Caller, { deptId, parentId, ...fields }: UpdateDeptDto): Promise<void> {
    await this.depts.manager.transaction(async (manager) => {
      const depts = manager.getRepository(Dept);
      const dept = await this.find(caller.tenantId, deptId, depts);
      if (parentId !== undefined && parentId !== dept.parentId) {
        const parent = await this.find(caller.tenantId, parentId, depts);
        const [from, ancestors] = [`${dept.ancestors},${deptId}`, `${parent.ancestors},${parentId}`];
        const below = await depts.find({ where: { tenantId: caller.tenantId, ancestors: Like(`${from}%`) } });
        for (const each of below)
          each.ancestors = `${ancestors},${deptId}${each.ancestors.slice(from.length)}`;
        await depts.save(below);
        Object.assign(dept, { parentId, ancestors, depth: parent.depth + 1 });
      }
      const touched = { updateBy: caller.username, updateTime: new Date(), revision: dept.revision + 1 };
      await depts.save(Object.assign(dept, fields, touched));
    });
  }

  private async find(tenantId: string, deptId: number, depts = this.depts): Promise<Dept> {
    const dept = await depts.findOne({ where: { tenantId, deptId, delFlag: '0' } });
    if (!dept) throw new NotFoundException();
    return dept;
  }
}

@Controller('system/dept-api')
@UseGuards(AuthGuard('jwt'), AdminGuard)
@UseInterceptors(TenantInterceptor)
class DeptController {
  constructor(private readonly depts: DeptService) {}

  @Get()
  list(@Request() { user }: { user: Caller }, @Query() query: ListQuery) {
    return this.depts.list(user, query);
  }

  @Get('tree')
  tree(@Request() { user }: { user: Caller }) {
    return this.depts.tree(user);
  }

  @Get(':id')
  get(@Request() { user }: { user: Caller }, @Param('id', ParseIntPipe) id: number) {
    return this.depts.get(user, id);
  }

  @Post()
  create(@Request() { user }: { user: Caller }, @Body() dto: CreateDeptDto) {
    return this.depts.create(user, dto);
  }

  @Put()
  update(@Request() { user }: { user: Caller }, @Body() dto: UpdateDeptDto) {
    return this.depts.update(user, dto);
  }
}

@Controller('system')
@UseGuards(AuthGuard('jwt'), AdminGuard)
@UseInterceptors(TenantInterceptor)
class DirectoryController {
  constructor(
    @InjectRepository(Tenant) private readonly tenants: Repository<Tenant>,
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
  ) {}

  @Get('tenant-api/:id')
  async tenant(@Param('id') id: string) {
    return tenantView(await this.tenants.findOneOrFail({ where: { id, delFlag: '0' } }));
  }

  @Get('user-api/:id')
  async account(@Request() { user }: { user: Caller }, @Param('id', ParseIntPipe) userId: number) {
    const where = { userId, tenantId: user.tenantId, delFlag: '0' };
    return accountView(await this.accounts.findOneOrFail({ where }));
  }
}

@Controller('health')
class HealthController {
  @Get('ready')
  ready(): string {
    return 'ready';
  }
}

const url = process.env.DATABASE_URL ?? '';
const database = {
  type: 'mysql' as const,
  url,
  charset: 'utf8mb4',
  timezone: 'Z',
  bigNumberStrings: false,
  extra: { connectionLimit: 20 },
};

/**
 * What one would write first: the parts of the service's design, each of which asks a repository of TypeORM for what it needs, and a
 * ValidationPipe. It has no log, no limits and no security headers.
 */
@Module({
  imports: [
    PassportModule,
    TypeOrmModule.forRoot({ ...database, entities: [Dept, Tenant, Account] }),
    TypeOrmModule.forFeature([Dept, Tenant, Account]),
  ],
  controllers: [DeptController, DirectoryController, HealthController],
  providers: [DeptService, JwtStrategy],
})
class TextbookModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(TextbookModule, { logger: ['error'] });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  await app.listen(process.env.PORT ?? '', process.env.HOST ?? '');
}

void main();
