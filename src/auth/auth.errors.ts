import { defineErrors } from '../http/error-catalogue';

/** Refusals that any operation may answer. */
export const AuthErrors = defineErrors({
  TOKEN_MISSING: {
    reason: 'TOKEN_MISSING',
    status: 401,
    zh: '缺少访问令牌',
    en: 'Send an access token: Authorization: Bearer <token>',
  },
  TOKEN_INVALID: {
    reason: 'TOKEN_INVALID',
    status: 401,
    zh: '访问令牌无效',
    en: 'The access token is not valid',
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

/** Refusals of signing in. */
export const SignInErrors = defineErrors({
  BAD_CREDENTIALS: {
    reason: 'BAD_CREDENTIALS',
    status: 401,
    zh: '租户、用户名或密码错误',
    en: 'Tenant, user name or password is wrong',
  },
  REFRESH_INVALID: {
    reason: 'REFRESH_INVALID',
    status: 401,
    zh: '刷新令牌无效，请重新登录',
    en: 'The refresh token is not valid (any more); sign in again',
  },
  BUSY: {
    reason: 'TOO_MANY_LOGINS',
    status: 429,
    zh: '登录请求过多，请稍后重试',
    en: 'Too many logins at once; try again shortly',
    retryAfter: 1,
  },
});
