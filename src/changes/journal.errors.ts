import { defineErrors } from '../errors/refusal';

export const JournalErrors = defineErrors({
  CURSOR_GONE: {
    reason: 'CURSOR_GONE',
    status: 410,
    zh: '游标之后的部分变更记录已被清理，请重新导出后再跟踪',
    en: 'Changes after this cursor are no longer kept; read everything again, then follow from a new cursor',
  },
  TOO_MANY_FOLLOWERS: {
    reason: 'TOO_MANY_FOLLOWERS',
    status: 429,
    zh: '等待变更的请求过多，请稍后重试',
    en: 'Too many requests are waiting for changes; try again after the time in Retry-After',
    retryAfter: 5,
  },
});
