import { refusal } from '../../errors/refusal';

export const WebhookErrors = Object.freeze({
  NOT_FOUND: refusal(404, 'WEBHOOK_NOT_FOUND').zh('Webhook 不存在').en('There is no such webhook'),
  LIMIT: refusal(409, 'WEBHOOK_LIMIT')
    .zh('Webhook 数量已达上限')
    .en('The tenant has as many webhooks as it may have'),
  MESSAGE_NOT_FOUND: refusal(404, 'MESSAGE_NOT_FOUND')
    .zh('没有向该 Webhook 发送过此消息，或其变更记录已被清理')
    .en('No such message was sent to this webhook, or its change is no longer kept'),
  BUSY: refusal(429, 'WEBHOOKS_BUSY', { retryAfter: 5 })
    .zh('等待域名服务器或接收方的请求过多，请稍后重试')
    .en(
      'Too many requests are waiting for name servers or receivers; try again after the time in Retry-After',
    ),
});
