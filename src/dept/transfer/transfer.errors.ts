import { defineErrors } from '../../errors/refusal';

export const TransferErrors = defineErrors({
  TOO_MANY_IMPORTS: {
    reason: 'TOO_MANY_IMPORTS',
    status: 429,
    zh: '正在进行的导入过多，请稍后重试',
    en: 'Too many imports are running (a tenant runs one at a time); try again when Retry-After says',
    retryAfter: 5,
  },
  TOO_MANY_EXPORTS: {
    reason: 'TOO_MANY_EXPORTS',
    status: 429,
    zh: '正在进行的导出过多，请稍后重试',
    en: 'Too many exports are running (a tenant runs one at a time); try again when Retry-After says',
    retryAfter: 5,
  },
});
