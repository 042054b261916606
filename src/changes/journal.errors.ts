import { refusal } from '../errors/refusal';

export const JournalErrors = Object.freeze({
  CURSOR_GONE: refusal(410, 'CURSOR_GONE')
    .zh('游标之后的部分变更记录已被清理，请重新导出后再跟踪')
    .en('Changes after this cursor are no longer kept; read everything again, then follow from a new cursor'),
  TOO_MANY_FOLLOWERS: refusal(429, 'TOO_MANY_FOLLOWERS', { retryAfter: 5 })
    .zh('等待变更的请求过多，请稍后重试')
    .en('Too many requests are waiting for changes; try again after the time in Retry-After'),
});
