import { refusal } from '../errors/refusal';
import { MAX_DEPTH } from '../database/tree-path';

export const TenantErrors = Object.freeze({
  NOT_FOUND: refusal(404, 'TENANT_NOT_FOUND').zh('租户不存在').en('There is no such tenant'),
  PARENT_NOT_FOUND: refusal(404, 'PARENT_TENANT_NOT_FOUND')
    .zh('上级租户不存在')
    .en('There is no such parent tenant'),
  PARENT_GONE: refusal(409, 'PARENT_TENANT_NOT_FOUND', { ids: ['1099511627776000000'] })
    .zh('上级租户不存在或已删除，请先恢复上级租户，或指定其他上级租户')
    .en('There is no such parent tenant, or it is deleted: restore it first, or name another parent'),
  CYCLE: refusal(409, 'TENANT_CYCLE')
    .zh('上级租户不能是该租户自身或其下级租户')
    .en('A tenant cannot be moved below itself or one of its descendants'),
  HAS_CHILDREN: refusal(409, 'TENANT_HAS_CHILDREN', { ids: ['1099511627776000000'] })
    .zh('存在下级租户，不允许删除')
    .en('The tenant has child tenants'),
  TOO_DEEP: refusal(400, 'TENANT_TOO_DEEP', { field: 'tenantParent' })
    .zh(`租户层级不能超过 ${MAX_DEPTH} 级`)
    .en(`The tenant tree can be at most ${MAX_DEPTH} levels deep`),
  OWN: refusal(403, 'OWN_TENANT')
    .zh('不能修改或删除自己所属的租户')
    .en('Your own tenant can be read, but not changed or deleted'),
  MISMATCH: refusal(403, 'TENANT_MISMATCH')
    .zh('不能操作其他租户的数据')
    .en('The body names a tenant other than your own'),
  DELETED: refusal(403, 'TENANT_DELETED')
    .zh('所属租户不存在或已删除')
    .en('Your tenant does not exist or has been deleted'),
  DISABLED: refusal(403, 'TENANT_DISABLED').zh('所属租户已停用').en('Your tenant is disabled'),
  NOT_STARTED: refusal(403, 'TENANT_NOT_STARTED')
    .zh('所属租户的服务期尚未开始')
    .en('The service period of your tenant has not started yet'),
  EXPIRED: refusal(403, 'TENANT_EXPIRED')
    .zh('所属租户的服务期已结束')
    .en('The service period of your tenant has ended'),
});
