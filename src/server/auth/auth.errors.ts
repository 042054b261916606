import { defineErrors } from '../../errors/refusal';

/** Refusals of signing in. */
export const SignInErrors = defineErrors({
  BAD_CREDENTIALS: {
    reason: 'BAD_CREDENTIALS',
    status: 401,
    zh: '租户、账号或密码错误',
    en: 'The tenant, user name or password is incorrect',
  },
  REFRESH_INVALID: {
    reason: 'REFRESH_INVALID',
    status: 401,
    zh: '刷新令牌无效或已过期，请重新登录',
    en: 'The refresh token is invalid or has expired; sign in again',
  },
  BUSY: {
    reason: 'TOO_MANY_LOGINS',
    status: 429,
    zh: '登录请求过多，请稍后重试',
    en: 'Too many sign-ins at once; try again shortly',
    retryAfter: 1,
  },
});
