import { defineErrors } from '../errors/refusal';

export const IdempotencyErrors = defineErrors({
  REUSED: {
    reason: 'IDEMPOTENCY_KEY_REUSED',
    status: 422,
    zh: '该 Idempotency-Key 已用于其他请求',
    en: 'This Idempotency-Key has been used for another request',
  },
});
