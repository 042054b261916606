import { Injectable } from '@nestjs/common';
import type { IdempotentRequest } from '../../database/idempotent-request';
import { PagedList, type PageView } from '../../database/page';
import { refuseOneTagForMany, refuseStale, type Expected } from '../../database/revision';
import { HttpErrors } from '../../errors/http.errors';
import type { Bilingual, Refusal } from '../../errors/refusal';
import { ChangeReader } from '../../journal/change-reader.repository';
import { toChangeView } from '../../journal/change-view';
import { mergePatch } from '../../resource/fields';
import { hasInvisible, NO_INVISIBLE } from '../../tenancy/account-name';
import type { StandingDept } from '../../tenancy/managed-part';
import { PermissionCatalogue } from '../../tenancy/permissions';
import type { RequestContext } from '../../tenancy/request-context';
import { refuseForeignTenant } from '../../tenancy/tenant-access';
import { ZonedTime } from '../../time/zoned-time';
import type { ChangeDto } from '../../web/change.dto';
import { NOT_A_TIME } from '../../web/fields';
import type { PageQuery } from '../../web/page-query.dto';
import type { KeyEntity } from '../auth/account.entity';
import {
  deptsToLookUp,
  hasRolesAbove,
  outsideScope,
  refuseOddGrant,
  refuseUnknownDepts,
  type Grant,
} from '../auth/grant.rules';
import { hashOfKey, newKeySecret } from '../auth/key-secret';
import { KeyStateCache } from '../auth/verified-tokens';
import type { CreatedKeyDto, CreateKeyDto, KeyDto, PatchKeyDto, UpdateKeyDto } from './key.dto';
import { KeyErrors } from './key.errors';
import { toKeyDto, toKeyFields, toKeyRow, toKeySent, type KeyFields, type SentKey } from './key.mapper';
import { KeyRepository, type LockedKeys } from './key.repository';

const KEYS = new PagedList('key', ['long']);
const MOST_KEYS = 100;

/** Reading keys. */
@Injectable()
export class KeyListService {
  constructor(
    private readonly keys: KeyRepository,
    private readonly journal: ChangeReader,
    private readonly time: ZonedTime,
  ) {}

  async get(ctx: RequestContext, keyId: number): Promise<KeyDto> {
    const key = await this.keys.in(ctx).find(keyId);
    if (!key) throw KeyErrors.NOT_FOUND();
    return toKeyDto(key, this.time);
  }

  /** A page of the tenant's keys, in the order of ids. */
  async list(ctx: RequestContext, query: PageQuery): Promise<PageView<KeyDto>> {
    const page = await KEYS.page([ctx.tenantId], query, (after, limit) =>
      this.keys.in(ctx).findPage(after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toKeyRow(row, this.time)) };
  }

  /** A page of all that was done to one key, the newest first. */
  async history(ctx: RequestContext, keyId: number, query: PageQuery): Promise<PageView<ChangeDto>> {
    const page = await this.journal.findHistory(ctx, 'key', keyId, query);
    if (page.rows.length === 0 && !(await this.keys.in(ctx).everHad(keyId))) throw KeyErrors.NOT_FOUND();
    return { ...page, rows: page.rows.map((entry) => toChangeView(entry, this.time, ctx.tenantId)) };
  }
}

/** The rules of keys. */
@Injectable()
export class KeyService {
  constructor(
    private readonly keys: KeyRepository,
    private readonly catalogue: PermissionCatalogue,
    private readonly states: KeyStateCache,
    private readonly time: ZonedTime,
  ) {}

  /** Gives the secret, but not to a repeated request. */
  async create(ctx: RequestContext, dto: CreateKeyDto, once?: IdempotentRequest): Promise<CreatedKeyDto> {
    refuseForeignTenant(ctx, dto.tenantId);
    const fields = this.#fieldsOf(Object.assign({}, dto, { endTime: this.#endOf(dto.endTime) }));
    const secret = newKeySecret();
    const own = hashOfKey(secret);
    const add = async (keys: LockedKeys) => {
      if (await keys.hasMoreThan(MOST_KEYS - 1)) throw KeyErrors.LIMIT();
      await refuseWrong(ctx, keys, fields, null);
      return { id: await keys.add(fields, own), hash: own };
    };
    // This is kept for repeated requests, so it has no secret.
    const { id, hash } = await this.keys.transaction(ctx, add, once);
    return hash === own ? { id, secret } : { id };
  }

  /** Replaces a key; its secret stays. Gives its new revision. */
  update(ctx: RequestContext, dto: UpdateKeyDto, expected?: Expected): Promise<number> {
    const sent = Object.assign({}, dto, { endTime: this.#endOf(dto.endTime) });
    return this.#change(ctx, dto, expected, () => sent);
  }

  /** Changes what the patch names, and resets what it sets to null; otherwise as `update` does. */
  patch(ctx: RequestContext, keyId: number, patch: PatchKeyDto, expected?: Expected): Promise<number> {
    const { endTime: text, ...others } = patch;
    const end = this.#endOf(text);
    return this.#change(ctx, { keyId, tenantId: patch.tenantId }, expected, (key) => {
      const merged = mergePatch(toKeySent(key), others) as unknown as SentKey;
      return end === undefined ? merged : { ...merged, endTime: end };
    });
  }

  async #change(
    ctx: RequestContext,
    { keyId, tenantId }: { readonly keyId: number; readonly tenantId?: string | undefined },
    expected: Expected,
    sentFor: (key: KeyEntity) => SentKey,
  ): Promise<number> {
    refuseForeignTenant(ctx, tenantId);
    const { hash, revision } = await this.keys.transaction(ctx, async (keys) => {
      const [key] = await keys.findMany([keyId]);
      if (!key) throw KeyErrors.NOT_FOUND();
      refuseStale(key, expected);
      const fields = this.#fieldsOf(sentFor(key));
      await refuseWrong(ctx, keys, fields, key);
      return { hash: key.secretHash, revision: await keys.replace(key, fields) };
    });
    this.states.forget(hash);
    return revision;
  }

  /** Deletes all of these keys, or none. */
  async delete(ctx: RequestContext, keyIds: readonly number[], expected?: Expected): Promise<void> {
    refuseOneTagForMany(keyIds, expected);
    const deleted = await this.keys.transaction(ctx, async (keys) => {
      const found = await keys.findMany(keyIds);
      const missing = new Set(keyIds);
      for (const { keyId } of found) missing.delete(keyId);
      if (missing.size > 0) throw KeyErrors.NOT_FOUND({ ids: [...missing].sort((a, b) => a - b) });
      const depts = await keys.findDepts(found.flatMap((key) => deptsToLookUp(ctx, key)));
      const beyond = found.filter((key) => isBeyond(ctx, key, depts));
      if (beyond.length > 0) throw KeyErrors.EXCEEDS_MAKER({ ids: beyond.map(({ keyId }) => keyId) });
      for (const key of found) refuseStale(key, expected);
      await keys.markDeleted(found);
      return found;
    });
    for (const { secretHash } of deleted) this.states.forget(secretHash);
  }

  /** The last second that is meant, as it is read. Undefined is not sent, null is none. */
  #endOf(text: string | null | undefined): Date | null | undefined {
    if (text == null) return text;
    const span = this.time.parse(text);
    if (!span) throw invalid('endTime', NOT_A_TIME);
    return new Date(Math.floor(span.until.getTime() / 1000) * 1000);
  }

  #fieldsOf(sent: SentKey): KeyFields {
    const { names } = this.catalogue;
    if (!sent.permissions.every((name) => names.includes(name)))
      throw invalid('permissions', {
        zh: `必须为权限列表，可选值：${names.join(', ')}`,
        en: `must be a list of permissions: ${names.join(', ')}`,
      });
    // In one order, so that equal sets are stored alike.
    const permissions = names.filter((name) => sent.permissions.includes(name));
    const fields = toKeyFields({ ...sent, permissions });
    if (hasInvisible(fields.name)) throw invalid('name', NO_INVISIBLE);
    refuseOddGrant(fields);
    return fields;
  }
}

const PAST = { zh: '必须晚于现在', en: 'must be in the future' };

function invalid(field: string, message: Bilingual): Refusal {
  return HttpErrors.INVALID({ fields: [{ field, message }] });
}

/** What a key is to become. What it was may stay: an end that has passed, and departments that are deleted. */
async function refuseWrong(
  ctx: RequestContext,
  keys: LockedKeys,
  fields: KeyFields,
  before: KeyEntity | null,
): Promise<void> {
  const { endTime, name } = fields;
  const depts = await keys.findDepts(deptsToLookUp(ctx, fields, before));
  if ([fields, ...(before ? [before] : [])].some((key) => isBeyond(ctx, key, depts)))
    throw KeyErrors.EXCEEDS_MAKER();
  if (endTime && endTime <= keys.now && endTime.getTime() !== before?.endTime?.getTime())
    throw invalid('endTime', PAST);
  if (name !== before?.name && (await keys.hasName(name))) throw KeyErrors.NAME_TAKEN();
  refuseUnknownDepts(fields, depts, before);
}

/** Nobody gives, changes or deletes a key that can do more than they can. All who may do it manage the whole tenant. */
function isBeyond(
  ctx: RequestContext,
  key: Grant & Pick<KeyFields, 'permissions'>,
  depts: readonly StandingDept[],
): boolean {
  return (
    hasRolesAbove(ctx, key.roles) ||
    key.permissions.split(' ').some((name) => ctx.permissions?.includes(name) === false) ||
    outsideScope(ctx, key, depts) !== null
  );
}
