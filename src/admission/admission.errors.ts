import { defineErrors } from '../http/error-catalogue';

export const AdmissionErrors = defineErrors({
  OVERLOADED: {
    reason: 'OVERLOADED',
    status: 503,
    zh: '服务繁忙，请稍后重试',
    en: 'The service has more to do than it can; try again shortly',
    retryAfter: 1,
  },
});
