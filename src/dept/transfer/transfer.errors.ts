import { defineErrors } from '../../errors/refusal';

export const TransferErrors = defineErrors({
  TOO_MANY_IMPORTS: {
    reason: 'TOO_MANY_IMPORTS',
    status: 429,
    zh: '正在进行的导入过多，请稍后重试',
    en: 'Too many imports are running (one at a time per tenant); try again after the time in Retry-After',
    retryAfter: 5,
  },
  TOO_MANY_EXPORTS: {
    reason: 'TOO_MANY_EXPORTS',
    status: 429,
    zh: '正在进行的导出过多，请稍后重试',
    en: 'Too many exports are running (one at a time per tenant); try again after the time in Retry-After',
    retryAfter: 5,
  },
});
