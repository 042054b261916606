const text = { type: 'string' };
const whole = { type: 'integer', format: 'int32' };

/** The headers of answers, described once. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'Yours if you sent one, otherwise generated; it is in the log too.',
    required: true,
    schema: text,
  },
  Location: {
    description: 'The path of the new resource.',
    required: true,
    schema: text,
    example: '/system/dept-api/1',
  },
  ETag: { description: 'For `If-Match` and `If-None-Match`.', required: true, schema: text, example: '"1"' },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': {
    description: 'Seconds to wait.',
    schema: { type: 'integer', format: 'int32' },
    example: 1,
  },
  'WWW-Authenticate': { description: '`Bearer`', required: true, schema: text },
  'Content-Disposition': { description: 'The name of the file.', required: true, schema: text },
  'RateLimit-Limit': { description: 'Requests a minute, where limits are on.', schema: whole },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: whole },
  'RateLimit-Reset': { description: 'Seconds until the count starts again.', schema: whole },
};
