import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { IdempotencyErrors } from '../../database/database.errors';
import type { IdempotentRequest } from '../../database/idempotent-request';
import type { PageView } from '../../database/page';
import type { Expected } from '../../database/revision';
import { DeptErrors } from '../../dept/dept.errors';
import { RevisionErrors } from '../../errors/http.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { MANAGERS } from '../../tenancy/roles';
import { TenantErrors } from '../../tenancy/tenant.errors';
import { ChangeDto } from '../../web/change.dto';
import { Changed, Created } from '../../web/envelope';
import { JsonBody, QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { PageQuery } from '../../web/page-query.dto';
import { IdempotencyKey, IfMatch, PathId, PathIds, sameId } from '../../web/params';
import { PATCH_TYPES } from '../../web/request';
import { CreatedKeyDto, CreateKeyDto, KeyDto, PatchKeyDto, UpdateKeyDto } from './key.dto';
import { KeyErrors } from './key.errors';
import { KeyListService, KeyService } from './key.service';

const EXAMPLE = { name: 'nightly-export', roles: ['member'], permissions: ['dept:read'] };
const ACCESS = { roles: MANAGERS, permission: 'key:write' } as const;
const { NOT_FOUND, NAME_TAKEN, LIMIT, EXCEEDS_MAKER } = KeyErrors;
const FIELDS = [EXCEEDS_MAKER, NAME_TAKEN, DeptErrors.NOT_FOUND, TenantErrors.MISMATCH];
const CHANGE = [...FIELDS, NOT_FOUND, RevisionErrors.STALE];

@OrganisationController('system/key-api', 'Keys')
export class KeyController {
  constructor(
    private readonly keys: KeyService,
    private readonly lists: KeyListService,
  ) {}

  @Post()
  @Operation({
    id: 'createKey',
    summary: 'Create a key for a program',
    description:
      'The secret is in this answer only, and not when the request is repeated with its `Idempotency-Key`. A program sends it as `Authorization: Bearer tnt_…`, where a token goes. Nobody gives a key more than they have. A tenant has at most 100.',
    body: { example: EXAMPLE },
    creates: true,
    tellsTag: true,
    ...ACCESS,
    data: CreatedKeyDto,
    refusals: [...FIELDS, LIMIT, IdempotencyErrors.REUSED],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: CreateKeyDto,
    @IdempotencyKey() once?: IdempotentRequest,
  ): Promise<Created> {
    const created = await this.keys.create(ctx, dto, once);
    return new Created(created.id, created);
  }

  @Get()
  @Operation({
    id: 'listKeys',
    summary: 'List the keys of your tenant, page by page',
    description: 'Keys are sorted by their ids. Secrets are never listed.',
    ...ACCESS,
    page: KeyDto,
    tellsChangeCursor: true,
    refusals: [],
  })
  list(@Ctx() ctx: RequestContext, @QueryParams() query: PageQuery): Promise<PageView<KeyDto>> {
    return this.lists.list(ctx, query);
  }

  @Get(':id')
  @Operation({
    id: 'getKey',
    summary: 'Read a key',
    description: 'Its secret is not in the answer: only create shows it.',
    ...ACCESS,
    data: KeyDto,
    refusals: [NOT_FOUND],
  })
  get(@Ctx() ctx: RequestContext, @PathId() id: number): Promise<KeyDto> {
    return this.lists.get(ctx, id);
  }

  @Get(':id/history')
  @Operation({
    id: 'getKeyHistory',
    summary: 'List what was done to a key, the newest first, also after it was deleted',
    description: 'What was done with the key stands in the journal as done by `key:` and its name.',
    ...ACCESS,
    page: ChangeDto,
    refusals: [NOT_FOUND],
  })
  history(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @QueryParams() query: PageQuery,
  ): Promise<PageView<ChangeDto>> {
    return this.lists.history(ctx, id, query);
  }

  @Put()
  @Operation({
    id: 'updateKey',
    summary: 'Replace a key; its secret stays',
    description:
      'A field that is not sent, or is null, gets its default (`roles`: `member`). A key that can do more than you cannot be changed.',
    body: { example: { keyId: 1, ...EXAMPLE } },
    tellsTag: true,
    ...ACCESS,
    refusals: CHANGE,
  })
  async update(
    @Ctx() ctx: RequestContext,
    @JsonBody() dto: UpdateKeyDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    return new Changed(await this.keys.update(ctx, dto, expected));
  }

  @Patch(':id')
  @Operation({
    id: 'patchKey',
    summary: 'Change some fields of a key (JSON merge patch)',
    description:
      'Fields in the body are changed, null resets a field to its default; otherwise as `updateKey`.',
    body: { as: PATCH_TYPES, example: { status: '1' } },
    tellsTag: true,
    ...ACCESS,
    refusals: CHANGE,
  })
  async patch(
    @Ctx() ctx: RequestContext,
    @PathId() id: number,
    @JsonBody() dto: PatchKeyDto,
    @IfMatch() expected: Expected,
  ): Promise<Changed> {
    const keyId = sameId('keyId', id, dto.keyId);
    return new Changed(await this.keys.patch(ctx, keyId, dto, expected));
  }

  @Delete(':id')
  @Operation({
    id: 'deleteKeys',
    summary: 'Delete one key or several',
    description:
      'They are refused from then on, here at once and by other replicas within five seconds. Deletion takes all of them or none, and frees their names.',
    ...ACCESS,
    refusals: [NOT_FOUND, EXCEEDS_MAKER, RevisionErrors.STALE],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @PathIds('1') ids: number[],
    @IfMatch() expected: Expected,
  ): Promise<void> {
    return this.keys.delete(ctx, ids, expected);
  }
}
