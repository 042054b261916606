import { QueryFailedError } from 'typeorm';

/**
 * An error as it may be logged. Errors of the database carry the values of the statement, in their fields and in
 * their message: of those only the codes and the statement's text with its placeholders are kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (!(error instanceof QueryFailedError)) {
    return { type: error.name, message: error.message, stack: error.stack, ...cause };
  }
  const { code, errno, errcode } = error.driverError as Error & Record<'code' | 'errno' | 'errcode', unknown>;
  return { type: error.name, code, errno, errcode, query: error.query, stack: framesOf(error) };
}

function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
