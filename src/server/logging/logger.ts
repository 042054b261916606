import type { LoggerService } from '@nestjs/common';
import { destination, pino, type DestinationStream, type Level, type Logger } from 'pino';
import type Pretty from 'pino-pretty';
import { QueryFailedError } from 'typeorm';
import { loadPart } from '../../errors/load-part';

/** Keys that must not reach a log, wherever an object that is logged may carry them. */
const SECRETS = 'authorization password passwordHash token accessToken refreshToken secret'.split(' ');

/** JSON lines for collectors; readable lines when a person is watching. */
export function createLogger(level: string, sink: DestinationStream = defaultSink()): Logger {
  const redact = SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  return pino({ level, base: null, serializers: { err: describeError }, redact }, sink);
}

/**
 * Lines are written together: a write for each would cost as much as making it. None waits for longer than `periodicFlush`, and none is lost
 * when the process ends by itself, as long as somebody reads them: beyond `maxLength` new ones are dropped. Linux writes up to 4,096 bytes
 * to a pipe in one piece, so lines of workers do not mix.
 */
const TOGETHER = { minLength: 2048, maxWrite: 4096, periodicFlush: 200, maxLength: 16 * 1024 * 1024 };

function defaultSink(): DestinationStream {
  if (!process.stdout.isTTY) return destination({ dest: 1, ...TOGETHER });
  // Loaded only for a person.
  const pretty = loadPart('Reading the log', ['pino-pretty'], () => require('pino-pretty') as typeof Pretty);
  return pretty({ sync: true, translateTime: 'SYS:HH:MM:ss', singleLine: true });
}

/**
 * An error as it may be logged. Errors of the database carry the values of the statement, in their fields and in
 * their message: of those only the codes and the statement's text with its placeholders are kept.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name: type, message, stack = '', cause } = error;
  if (!(error instanceof QueryFailedError))
    return { type, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) };
  const { code, errno, errcode } = error.driverError as Error & Record<'code' | 'errno' | 'errcode', unknown>;
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  return { type, code, errno, errcode, query: error.query, stack: frames.join('\n') };
}

/** Sends what Nest and our own `Logger`s say to pino. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  fatal = this.#at('fatal');
  error = this.#at('error');
  warn = this.#at('warn');
  // Nest tells of every module and route that it has made; that is for those who debug a start.
  log = this.#at('debug');
  debug = this.#at('debug');
  verbose = this.#at('trace');

  /** Nest's calls end with the context's name; an object in front holds fields, a text the message. */
  #at(level: Level) {
    return (first: unknown, ...rest: unknown[]): void => {
      const fields = typeof first === 'object' && first !== null ? first : {};
      const message = typeof first === 'string' ? first : rest.length > 1 ? String(rest[0]) : undefined;
      this.logger[level]({ context: rest.at(-1), ...fields }, message);
    };
  }
}
