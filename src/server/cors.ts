import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';

/**
 * Lets pages of these origins call the API. Without credentials: callers show a token, and a browser must never add a cookie by
 * itself. Any other page is answered as if there were no CORS; the browser keeps the answer from it.
 */
export function corsOptions(origins: readonly string[]): CorsOptions {
  return {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'If-Match',
      'If-None-Match',
      'Idempotency-Key',
      'X-Request-Id',
    ],
    exposedHeaders: [
      'Content-Disposition',
      'ETag',
      'Idempotent-Replayed',
      'Location',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ],
    /** Seconds for which a browser need not ask again. */
    maxAge: 600,
  };
}
