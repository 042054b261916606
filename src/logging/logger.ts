import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

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
export function createLogger(level: string, terminal = process.stdout.isTTY): Logger {
  const options = { level, base: null, redact: SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]) };
  return terminal
    ? pino(options, pretty({ sync: true, translateTime: 'SYS:HH:MM:ss', singleLine: true }))
    : pino(options);
}
