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

export const IdempotencyErrors = defineErrors({
  REUSED: {
    reason: 'IDEMPOTENCY_KEY_REUSED',
    status: 422,
    zh: '该 Idempotency-Key 已用于其他请求',
    en: 'This Idempotency-Key has been used for another request',
  },
});
