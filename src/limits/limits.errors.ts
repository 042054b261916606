import { defineErrors } from '../http/error-catalogue';

export const LimitErrors = defineErrors({
  TOO_MANY: {
    reason: 'RATE_LIMITED',
    status: 429,
    zh: '请求过于频繁，请稍后重试',
    en: 'Too many requests; try again when Retry-After says',
  },
});
