import { defineErrors } from '../http/error-catalogue';

export const TenantErrors = defineErrors({
  GONE: {
    reason: 'TENANT_DELETED',
    status: 403,
    zh: '所属租户不存在或已删除',
    en: 'Your tenant does not exist (any more)',
  },
  DISABLED: { reason: 'TENANT_DISABLED', status: 403, zh: '所属租户已停用', en: 'Your tenant is disabled' },
  MISMATCH: {
    reason: 'TENANT_MISMATCH',
    status: 403,
    zh: '不能操作其他租户的数据',
    en: 'The body names a tenant that is not yours',
  },
});
