import { defineErrors } from '../errors/refusal';

export const DatabaseErrors = defineErrors({
  UNAVAILABLE: {
    reason: 'DATABASE_UNAVAILABLE',
    status: 503,
    zh: '数据库暂时不可用，请稍后重试',
    en: 'The database is currently unavailable; try again shortly',
    retryAfter: 1,
  },
});
