import { refusal } from '../../errors/refusal';

export const QuotaErrors = Object.freeze({
  KIND_UNKNOWN: refusal(404, 'QUOTA_KIND_UNKNOWN').zh('配额类型不存在').en('There is no such kind of quota'),
  EXCEEDED: refusal(409, 'QUOTA_EXCEEDED', { available: 3 })
    .zh('配额不足')
    .en('Not enough of the quota is available'),
  KEY_REUSED: refusal(422, 'QUOTA_KEY_REUSED')
    .zh('该 key 已用于另一次操作')
    .en('The key was used for something else before'),
  RESERVATION_NOT_FOUND: refusal(404, 'RESERVATION_NOT_FOUND')
    .zh('预留不存在')
    .en('There is no such reservation'),
  RESERVATION_OVER: refusal(409, 'RESERVATION_OVER')
    .zh('预留已提交、已释放或已过期')
    .en('The reservation was committed or released, or has run out'),
  KEY_NOT_FOUND: refusal(404, 'QUOTA_KEY_NOT_FOUND')
    .zh('该 key 没有使用记录')
    .en('Nothing was spent under this key'),
  REFUND_TOO_LARGE: refusal(409, 'REFUND_TOO_LARGE')
    .zh('退还数量超过该 key 的已用数量')
    .en('The refund is more than the key has spent'),
});
