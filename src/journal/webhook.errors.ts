import { defineErrors } from '../errors/refusal';

export const WebhookErrors = defineErrors({
  NOT_FOUND: {
    reason: 'WEBHOOK_NOT_FOUND',
    status: 404,
    zh: 'Webhook 不存在',
    en: 'There is no such webhook',
  },
  LIMIT: {
    reason: 'WEBHOOK_LIMIT',
    status: 409,
    zh: 'Webhook 数量已达上限',
    en: 'The tenant has as many webhooks as it may have',
  },
});
