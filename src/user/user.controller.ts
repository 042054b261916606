import { Body, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiParam, ApiQuery } from '@nestjs/swagger';
import { Operation } from '../api/operation.decorator';
import { OrganisationController } from '../api/organisation-controller.decorator';
import { MANAGERS, READERS } from '../auth/roles';
import { DeptErrors } from '../dept/dept.errors';
import { Created } from '../http/created';
import { IdPipe, IdsPipe } from '../http/ids.pipe';
import { PagePipe, toPageView, type PageRequest, type PageView } from '../http/page';
import { Ctx } from '../tenancy/ctx.decorator';
import { RequestContext } from '../tenancy/request-context';
import { TenantErrors } from '../tenant/tenant.errors';
import { ZonedTime } from '../time/zoned-time';
import { ChangePasswordDto, CreateUserDto, UpdateUserDto, UserDto } from './user.dto';
import { UserErrors } from './user.errors';
import { toUserDto } from './user.mapper';
import { UserService } from './user.service';

const FIELDS = [
  UserErrors.ROLE_TOO_HIGH,
  UserErrors.USERNAME_TAKEN,
  DeptErrors.NOT_FOUND,
  UserErrors.DEPT_DISABLED,
];

@OrganisationController('system/user-api', 'Accounts')
export class UserController {
  constructor(
    private readonly users: UserService,
    private readonly time: ZonedTime,
  ) {}

  @Post()
  @Operation({
    summary: 'Create an account',
    roles: MANAGERS,
    refusals: [...FIELDS, UserErrors.LIMIT, TenantErrors.NOT_FOUND],
  })
  async create(@Ctx() ctx: RequestContext, @Body() dto: CreateUserDto): Promise<Created> {
    return new Created(await this.users.create(ctx, dto));
  }

  @Get()
  @ApiQuery({ name: 'limit', required: false, description: '1 to 500', example: 50 })
  @ApiQuery({ name: 'cursor', required: false, description: '`nextCursor` of the page before' })
  @Operation({ summary: 'List the accounts of your tenant', roles: MANAGERS, refusals: [] })
  async list(@Ctx() ctx: RequestContext, @Query(PagePipe) page: PageRequest): Promise<PageView<UserDto>> {
    return toPageView(await this.users.list(ctx, page), (row) => toUserDto(row, this.time));
  }

  @Get(':id')
  @ApiParam({ name: 'id', schema: { type: 'integer', format: 'int64' } })
  @Operation({ summary: 'Read an account', roles: MANAGERS, data: UserDto, refusals: [UserErrors.NOT_FOUND] })
  async get(@Ctx() ctx: RequestContext, @Param('id', IdPipe) id: number): Promise<UserDto> {
    return toUserDto(await this.users.get(ctx, id), this.time);
  }

  @Put('password')
  @Operation({
    summary: 'Change your own password, or reset the password of an account',
    roles: READERS,
    refusals: [UserErrors.NOT_FOUND, UserErrors.WRONG_PASSWORD, UserErrors.ROLE_TOO_HIGH],
  })
  changePassword(@Ctx() ctx: RequestContext, @Body() dto: ChangePasswordDto): Promise<void> {
    return this.users.changePassword(ctx, dto);
  }

  @Put()
  @Operation({
    summary: 'Replace an account; its password stays',
    roles: MANAGERS,
    refusals: [...FIELDS, UserErrors.NOT_FOUND, UserErrors.LAST_SUPERADMIN, TenantErrors.MISMATCH],
  })
  update(@Ctx() ctx: RequestContext, @Body() dto: UpdateUserDto): Promise<void> {
    return this.users.update(ctx, dto);
  }

  @Delete(':ids')
  @ApiParam({ name: 'ids', description: 'One id, or up to 500 separated by commas', example: '2,3' })
  @Operation({
    summary: 'Delete one account or several',
    roles: MANAGERS,
    refusals: [UserErrors.NOT_FOUND, UserErrors.ROLE_TOO_HIGH, UserErrors.LAST_SUPERADMIN],
  })
  delete(@Ctx() ctx: RequestContext, @Param('ids', IdsPipe) ids: number[]): Promise<void> {
    return this.users.delete(ctx, ids);
  }
}
