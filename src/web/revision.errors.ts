import { defineErrors } from '../errors/refusal';

export const RevisionErrors = defineErrors({
  STALE: {
    reason: 'STALE',
    status: 412,
    zh: '数据已被他人修改，请刷新后重试',
    en: 'The resource has changed since you read it; read it again',
  },
});
