import { refusal } from '../../errors/refusal';

/** Refusals of signing in. */
export const SignInErrors = Object.freeze({
  BAD_CREDENTIALS: refusal(401, 'BAD_CREDENTIALS')
    .zh('租户、账号或密码错误')
    .en('The tenant, user name or password is incorrect'),
  REFRESH_INVALID: refusal(401, 'REFRESH_INVALID')
    .zh('刷新令牌无效或已过期，请重新登录')
    .en('The refresh token is invalid or has expired; sign in again'),
  INVALID_SCOPE: refusal(400, 'INVALID_SCOPE', { field: 'scope' })
    .zh('scope 含有不存在的权限，或超出可授予的范围')
    .en('The scope names a permission that does not exist, or more than can be granted'),
  SESSION_NOT_FOUND: refusal(404, 'SESSION_NOT_FOUND')
    .zh('会话不存在或已结束')
    .en('There is no such session, or it has ended'),
  BUSY: refusal(429, 'TOO_MANY_LOGINS', { retryAfter: 1 })
    .zh('登录请求过多，请稍后重试')
    .en('Too many sign-ins at once; try again shortly'),
});
