import { defineErrors } from '../errors/refusal';
import { MAX_DEPTH } from '../database/tree-path';

export const TenantErrors = defineErrors({
  NOT_FOUND: { reason: 'TENANT_NOT_FOUND', status: 404, zh: '租户不存在', en: 'There is no such tenant' },
  PARENT_NOT_FOUND: {
    reason: 'PARENT_TENANT_NOT_FOUND',
    status: 404,
    zh: '上级租户不存在',
    en: 'There is no such parent tenant',
  },
  PARENT_GONE: {
    reason: 'PARENT_TENANT_NOT_FOUND',
    status: 409,
    ids: ['1099511627776000000'],
    zh: '上级租户不存在或已删除，请先恢复上级租户，或指定其他上级租户',
    en: 'There is no such parent tenant, or it is deleted: restore it first, or name another parent',
  },
  CYCLE: {
    reason: 'TENANT_CYCLE',
    status: 409,
    zh: '上级租户不能是该租户自身或其下级租户',
    en: 'A tenant cannot be moved below itself or one of its descendants',
  },
  HAS_CHILDREN: {
    reason: 'TENANT_HAS_CHILDREN',
    status: 409,
    ids: ['1099511627776000000'],
    zh: '存在下级租户，不允许删除',
    en: 'The tenant has child tenants',
  },
  TOO_DEEP: {
    reason: 'TENANT_TOO_DEEP',
    status: 400,
    field: 'tenantParent',
    zh: `租户层级不能超过 ${MAX_DEPTH} 级`,
    en: `The tenant tree can be at most ${MAX_DEPTH} levels deep`,
  },
  OWN: {
    reason: 'OWN_TENANT',
    status: 403,
    zh: '不能修改或删除自己所属的租户',
    en: 'Your own tenant can be read, but not changed or deleted',
  },
  MISMATCH: {
    reason: 'TENANT_MISMATCH',
    status: 403,
    zh: '不能操作其他租户的数据',
    en: 'The body names a tenant other than your own',
  },
  DELETED: {
    reason: 'TENANT_DELETED',
    status: 403,
    zh: '所属租户不存在或已删除',
    en: 'Your tenant does not exist or has been deleted',
  },
  DISABLED: { reason: 'TENANT_DISABLED', status: 403, zh: '所属租户已停用', en: 'Your tenant is disabled' },
  NOT_STARTED: {
    reason: 'TENANT_NOT_STARTED',
    status: 403,
    zh: '所属租户的服务期尚未开始',
    en: 'The service period of your tenant has not started yet',
  },
  EXPIRED: {
    reason: 'TENANT_EXPIRED',
    status: 403,
    zh: '所属租户的服务期已结束',
    en: 'The service period of your tenant has ended',
  },
});
