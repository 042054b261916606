import { defineErrors } from './refusal';

/** Refusals that have nothing to do with a domain. */
export const HttpErrors = defineErrors({
  INVALID: { reason: 'INVALID_INPUT', status: 400, zh: '请求参数不正确', en: 'The input is invalid' },
  MALFORMED: {
    reason: 'MALFORMED_REQUEST',
    status: 400,
    zh: '请求格式错误',
    en: 'The request could not be read (broken JSON, encoding or address)',
  },
  NO_ROUTE: {
    reason: 'ROUTE_NOT_FOUND',
    status: 404,
    zh: '请求的接口不存在',
    en: 'There is no such operation',
  },
  NOT_ACCEPTABLE: {
    reason: 'NOT_ACCEPTABLE',
    status: 406,
    zh: '不支持 Accept 请求头要求的格式',
    en: 'No type that the Accept header allows is available',
  },
  TIMEOUT: {
    reason: 'REQUEST_TIMEOUT',
    status: 408,
    zh: '请求超时',
    en: 'The request took too long to arrive',
  },
  TOO_LARGE: { reason: 'BODY_TOO_LARGE', status: 413, zh: '请求体过大', en: 'The body is too large' },
  MEDIA_TYPE: {
    reason: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    field: 'Content-Type',
    zh: '不支持该请求体的类型或编码',
    en: 'This operation does not accept the type or encoding of the body',
  },
  EXPECTATION: {
    reason: 'EXPECTATION_FAILED',
    status: 417,
    zh: '不支持该 Expect 请求头',
    en: 'The Expect header is not supported',
  },
  HEADERS_TOO_LARGE: {
    reason: 'HEADERS_TOO_LARGE',
    status: 431,
    zh: '请求地址或请求头过长，或请求头过多',
    en: 'The address or the headers are too long, or there are too many headers',
  },
  TOO_MANY: {
    reason: 'RATE_LIMITED',
    status: 429,
    zh: '请求过于频繁，请稍后重试',
    en: 'Too many requests; try again after the time in Retry-After',
  },
  OVERLOADED: {
    reason: 'OVERLOADED',
    status: 503,
    zh: '服务过载，请稍后重试',
    en: 'The service is overloaded; try again shortly',
    retryAfter: 1,
  },
  INTERNAL: { reason: 'INTERNAL_ERROR', status: 500, zh: '服务器内部错误', en: 'Internal server error' },
});

/** Refusals of conditional requests. */
export const RevisionErrors = defineErrors({
  STALE: {
    reason: 'STALE',
    status: 412,
    zh: '数据已被他人修改，请刷新后重试',
    en: 'The resource has changed since you read it; read it again',
  },
});

/** Refusals of looking back and putting back. */
export const HistoryErrors = defineErrors({
  GONE: {
    reason: 'HISTORY_GONE',
    status: 410,
    zh: '该时间点的历史记录已不再保留',
    en: 'The history of that time is not kept any more',
  },
  TOO_LONG: {
    reason: 'HISTORY_TOO_LONG',
    status: 400,
    zh: '该时间点以来的变更过多，无法查阅；请选择更晚的时间，比较时请缩短两个时间点的间隔',
    en: 'There were too many changes since that time; choose a later time, or for a comparison two times that are closer',
  },
  TOO_MANY: {
    reason: 'TOO_MANY_HISTORY_READS',
    status: 429,
    zh: '正在进行的历史查询过多，请稍后重试',
    en: 'Too many reads of a long history are running; try again after the time in Retry-After',
    retryAfter: 5,
  },
  NOT_DELETED: {
    reason: 'NOT_DELETED',
    status: 409,
    zh: '未被删除，无需恢复',
    en: 'It is not deleted, so it cannot be restored',
  },
});
