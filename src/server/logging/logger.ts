import { createRequire } from 'node:module';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import type Pretty from 'pino-pretty';
import { describeError } from './describe-error';

const load = createRequire(__filename);

/** Keys that must not reach a log, wherever an object that is logged may carry them. */
const SECRETS = [
  'authorization',
  'password',
  'passwordHash',
  'token',
  'accessToken',
  'refreshToken',
  'secret',
];

/** JSON lines for collectors; readable lines when a person is watching. */
export function createLogger(level: string, sink: DestinationStream = defaultSink()): Logger {
  const redact = SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  return pino({ level, base: null, serializers: { err: describeError }, redact }, sink);
}

function defaultSink(): DestinationStream {
  if (!process.stdout.isTTY) return destination(1);
  // Loaded only for a person.
  const pretty = load('pino-pretty') as typeof Pretty;
  return pretty({ sync: true, translateTime: 'SYS:HH:MM:ss', singleLine: true });
}
