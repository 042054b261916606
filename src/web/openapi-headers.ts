const text = { type: 'string' };
const whole = { type: 'integer', format: 'int32' };

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
  'WWW-Authenticate': { description: '`Bearer`', required: true, schema: text },
  'Content-Disposition': { description: 'The name of the file.', required: true, schema: text },
  'RateLimit-Limit': { description: 'Requests a minute, where limits are on.', schema: whole },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: whole },
  'RateLimit-Reset': { description: 'Seconds until they are all there again.', schema: whole },
};
