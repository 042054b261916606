const text = { type: 'string' };

/** The headers of answers, described once. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'Your own, if you sent one, else a new one; the log has it.',
    required: true,
    schema: text,
  },
  Location: {
    description: 'The path of what was made.',
    required: true,
    schema: text,
    example: '/system/dept-api/1',
  },
  ETag: { description: 'For `If-Match` and `If-None-Match`.', required: true, schema: text, example: '"1"' },
  'Idempotent-Replayed': {
    description: '`true`: the answer that this `Idempotency-Key` was given before.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': {
    description: 'Seconds to wait.',
    schema: { type: 'integer', format: 'int32' },
    example: 1,
  },
  'WWW-Authenticate': { description: '`Bearer`', schema: text },
};
