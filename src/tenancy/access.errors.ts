import { refusal } from '../errors/refusal';

export const AuthErrors = Object.freeze({
  TOKEN_MISSING: refusal(401, 'TOKEN_MISSING')
    .zh('缺少访问令牌')
    .en('The access token is missing; send Authorization: Bearer <token>'),
  TOKEN_INVALID: refusal(401, 'TOKEN_INVALID').zh('访问令牌无效').en('The access token is invalid'),
  TOKEN_EXPIRED: refusal(401, 'TOKEN_EXPIRED').zh('访问令牌已过期').en('The access token has expired'),
  KEY_MISTYPED: refusal(401, 'KEY_MISTYPED')
    .zh('密钥有误，请检查是否完整复制')
    .en('The key is mistyped: its check sum is wrong'),
  KEY_INVALID: refusal(401, 'KEY_INVALID')
    .zh('密钥不存在、已停用、已删除或已过期')
    .en('The key is unknown, disabled, deleted or has ended'),
  ROLE: refusal(403, 'ROLE_REQUIRED').zh('没有权限执行此操作').en('Your role does not allow this'),
  PERMISSION: refusal(403, 'PERMISSION_REQUIRED', { permission: 'dept:write' })
    .zh('令牌或密钥没有此操作所需的权限')
    .en('Your token or key lacks the permission that this needs'),
});

/** Refusals of callers who have a part of a tenant. */
export const PartErrors = Object.freeze({
  OUTSIDE_MANAGED: refusal(403, 'OUTSIDE_MANAGED_DEPTS', { ids: [1] })
    .zh('不在您管理的部门范围内')
    .en('This is outside the departments that you manage'),
  OUTSIDE_SCOPE: refusal(403, 'OUTSIDE_DATA_SCOPE', { ids: [1] })
    .zh('超出您的数据范围')
    .en('This is outside your data scope'),
});
