import { refusal } from '../errors/refusal';

export const DatabaseErrors = Object.freeze({
  UNAVAILABLE: refusal(503, 'DATABASE_UNAVAILABLE', { retryAfter: 1 })
    .zh('数据库暂时不可用，请稍后重试')
    .en('The database is currently unavailable; try again shortly'),
});

export const IdempotencyErrors = Object.freeze({
  REUSED: refusal(422, 'IDEMPOTENCY_KEY_REUSED')
    .zh('该 Idempotency-Key 已用于其他请求')
    .en('This Idempotency-Key has been used for another request'),
});
