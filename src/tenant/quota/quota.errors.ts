import { defineErrors } from '../../errors/refusal';

export const QuotaErrors = defineErrors({
  KIND_UNKNOWN: {
    reason: 'QUOTA_KIND_UNKNOWN',
    status: 404,
    zh: '配额类型不存在',
    en: 'There is no such kind of quota',
  },
  EXCEEDED: {
    reason: 'QUOTA_EXCEEDED',
    status: 409,
    available: 3,
    zh: '配额不足',
    en: 'Not enough of the quota is available',
  },
  KEY_REUSED: {
    reason: 'QUOTA_KEY_REUSED',
    status: 422,
    zh: '该 key 已用于另一次操作',
    en: 'The key was used for something else before',
  },
  RESERVATION_NOT_FOUND: {
    reason: 'RESERVATION_NOT_FOUND',
    status: 404,
    zh: '预留不存在',
    en: 'There is no such reservation',
  },
  RESERVATION_OVER: {
    reason: 'RESERVATION_OVER',
    status: 409,
    zh: '预留已提交、已释放或已过期',
    en: 'The reservation was committed or released, or has run out',
  },
  KEY_NOT_FOUND: {
    reason: 'QUOTA_KEY_NOT_FOUND',
    status: 404,
    zh: '该 key 没有使用记录',
    en: 'Nothing was spent under this key',
  },
  REFUND_TOO_LARGE: {
    reason: 'REFUND_TOO_LARGE',
    status: 409,
    zh: '退还数量超过该 key 的已用数量',
    en: 'The refund is more than the key has spent',
  },
});
