import { refusal } from '../errors/refusal';

export const AuthErrors = Object.freeze({
  TOKEN_MISSING: refusal(401, 'TOKEN_MISSING')
    .zh('缺少访问令牌')
    .en('The access token is missing; send Authorization: Bearer <token>'),
  TOKEN_INVALID: refusal(401, 'TOKEN_INVALID').zh('访问令牌无效').en('The access token is invalid'),
  TOKEN_EXPIRED: refusal(401, 'TOKEN_EXPIRED').zh('访问令牌已过期').en('The access token has expired'),
  ROLE: refusal(403, 'ROLE_REQUIRED').zh('没有权限执行此操作').en('Your role does not allow this'),
});
