import { defineErrors } from '../errors/refusal';

export const AuthErrors = defineErrors({
  TOKEN_MISSING: {
    reason: 'TOKEN_MISSING',
    status: 401,
    zh: '缺少访问令牌',
    en: 'The access token is missing; send Authorization: Bearer <token>',
  },
  TOKEN_INVALID: {
    reason: 'TOKEN_INVALID',
    status: 401,
    zh: '访问令牌无效',
    en: 'The access token is invalid',
  },
  TOKEN_EXPIRED: {
    reason: 'TOKEN_EXPIRED',
    status: 401,
    zh: '访问令牌已过期',
    en: 'The access token has expired',
  },
  ROLE: {
    reason: 'ROLE_REQUIRED',
    status: 403,
    zh: '没有权限执行此操作',
    en: 'Your role does not allow this',
  },
});
