import { refusal } from './refusal';

/** Refusals that have nothing to do with a domain. */
export const HttpErrors = Object.freeze({
  INVALID: refusal(400, 'INVALID_INPUT').zh('请求参数不正确').en('The input is invalid'),
  MALFORMED: refusal(400, 'MALFORMED_REQUEST')
    .zh('请求格式错误')
    .en('The request could not be read (broken JSON, encoding or address)'),
  NO_ROUTE: refusal(404, 'ROUTE_NOT_FOUND').zh('请求的接口不存在').en('There is no such operation'),
  NOT_ACCEPTABLE: refusal(406, 'NOT_ACCEPTABLE')
    .zh('不支持 Accept 请求头要求的格式')
    .en('No type that the Accept header allows is available'),
  TIMEOUT: refusal(408, 'REQUEST_TIMEOUT').zh('请求超时').en('The request took too long to arrive'),
  TOO_LARGE: refusal(413, 'BODY_TOO_LARGE').zh('请求体过大').en('The body is too large'),
  MEDIA_TYPE: refusal(415, 'UNSUPPORTED_MEDIA_TYPE', { field: 'Content-Type' })
    .zh('不支持该请求体的类型或编码')
    .en('This operation does not accept the type or encoding of the body'),
  EXPECTATION: refusal(417, 'EXPECTATION_FAILED')
    .zh('不支持该 Expect 请求头')
    .en('The Expect header is not supported'),
  HEADERS_TOO_LARGE: refusal(431, 'HEADERS_TOO_LARGE')
    .zh('请求地址或请求头过长，或请求头过多')
    .en('The address or the headers are too long, or there are too many headers'),
  TOO_MANY: refusal(429, 'RATE_LIMITED')
    .zh('请求过于频繁，请稍后重试')
    .en('Too many requests; try again after the time in Retry-After'),
  OVERLOADED: refusal(503, 'OVERLOADED', { retryAfter: 1 })
    .zh('服务过载，请稍后重试')
    .en('The service is overloaded; try again shortly'),
  INTERNAL: refusal(500, 'INTERNAL_ERROR').zh('服务器内部错误').en('Internal server error'),
});

/** Refusals of conditional requests. */
export const RevisionErrors = Object.freeze({
  STALE: refusal(412, 'STALE')
    .zh('数据已被他人修改，请刷新后重试')
    .en('The resource has changed since you read it; read it again'),
});

/** Refusals of looking back and putting back. */
export const HistoryErrors = Object.freeze({
  GONE: refusal(410, 'HISTORY_GONE')
    .zh('该时间点的历史记录已不再保留')
    .en('The history of that time is not kept any more'),
  TOO_LONG: refusal(400, 'HISTORY_TOO_LONG')
    .zh('该时间点以来的变更过多，无法查阅；请选择更晚的时间，比较时请缩短两个时间点的间隔')
    .en(
      'There were too many changes since that time; choose a later time, or for a comparison two times that are closer',
    ),
  TOO_MANY: refusal(429, 'TOO_MANY_HISTORY_READS', { retryAfter: 5 })
    .zh('正在进行的历史查询过多，请稍后重试')
    .en('Too many reads of a long history are running; try again after the time in Retry-After'),
  NOT_DELETED: refusal(409, 'NOT_DELETED')
    .zh('未被删除，无需恢复')
    .en('It is not deleted, so it cannot be restored'),
});
