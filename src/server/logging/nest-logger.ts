import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Sends what Nest and our own `Logger`s say to pino. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  fatal = this.#at('fatal');
  error = this.#at('error');
  warn = this.#at('warn');
  // Nest tells every module and route it has made; that is for those who debug a start.
  log = this.#at('debug');
  debug = this.#at('debug');
  verbose = this.#at('trace');

  /** Nest's calls end with the context's name; an object in front holds fields, a text the message. */
  #at(level: Level) {
    return (first: unknown, ...rest: unknown[]): void => {
      const context = rest.at(-1);
      const fields = typeof first === 'object' && first !== null ? first : {};
      const message = typeof first === 'string' ? first : rest.length > 1 ? String(rest[0]) : undefined;
      this.logger[level]({ context, ...fields }, message);
    };
  }
}
