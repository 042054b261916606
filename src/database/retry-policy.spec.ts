import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { faultOf, isDuplicate, RetryBudget } from './retry-policy';

const failed = (fields: object) =>
  new QueryFailedError(
    'SELECT 1',
    [],
    fields instanceof Error ? fields : Object.assign(new Error('x'), fields),
  );

describe('what a database error says about its unit of work', () => {
  it.each([
    [{ errno: 1213 }, 'conflict'],
    [{ errno: 1205 }, 'conflict'],
    [{ errno: 3101 }, 'conflict'],
    [{ errcode: 5 }, 'busy'],
    [{ errcode: 261 }, 'busy'],
    [{ errno: 1047 }, 'unreachable'],
    [{ errno: 1053 }, 'unreachable'],
    [{ errno: 1927 }, 'unreachable'],
    [{ errno: 1040 }, 'unreachable'],
    [{ errno: 1203 }, 'unreachable'],
    [{ errno: -111, code: 'ECONNREFUSED' }, 'unreachable'],
    [{ errno: 1290 }, 'unreachable'],
    [{ errno: 1836 }, 'unreachable'],
    [{ errno: 1792 }, 'unreachable'],
    [{ errno: 1045 }, 'unreachable'],
    [{ errno: 1044 }, 'unreachable'],
    [{ errno: 1129 }, 'unreachable'],
    [{ errno: 1226 }, 'unreachable'],
    [{ errno: 4151 }, 'unreachable'],
    [{ errno: 1820 }, 'unreachable'],
    [{ errno: 1862 }, 'unreachable'],
    [{ errno: 3118 }, 'unreachable'],
    [{ errno: 3032 }, 'unreachable'],
    [{ code: '28P01' }, 'unreachable'],
    [{ errno: 1317 }, 'unreachable'],
    [{ errno: 1969 }, 'unreachable'],
    [{ errno: 3024 }, 'unreachable'],
    [{ errcode: 8 }, 'unreachable'],
    [{ errcode: 1032 }, 'unreachable'],
    [{ errno: 1180 }, 'lost'],
    [{ errno: 1021 }, 'lost'],
    [{ errno: 1114 }, 'lost'],
    [{ errcode: 13 }, 'lost'],
    [{ errcode: 778 }, 'lost'],
    [{ code: 'PROTOCOL_CONNECTION_LOST' }, 'lost'],
    [{ errno: -104, code: 'ECONNRESET' }, 'lost'],
    [{ code: 'ERR_STREAM_WRITE_AFTER_END' }, 'lost'],
    [{ message: "Can't add new command when connection is in closed state" }, 'lost'],
    [{ code: '40001' }, 'conflict'],
    [{ code: '40P01' }, 'conflict'],
    [{ code: '55P03' }, 'conflict'],
    [{ code: '53300' }, 'unreachable'],
    [{ code: '57P03' }, 'unreachable'],
    [{ code: '25006' }, 'unreachable'],
    [{ code: '57014' }, 'unreachable'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'unreachable'],
    [{ message: 'timeout exceeded when trying to connect' }, 'crowded'],
    [{ code: '57P01' }, 'lost'],
    [{ code: '57P02' }, 'lost'],
    [{ code: '57P05' }, 'lost'],
    [{ code: '53100' }, 'lost'],
    [{ code: '08006' }, 'lost'],
    [{ message: 'Connection terminated unexpectedly' }, 'lost'],
    [{ message: 'Query read timeout' }, 'lost'],
    [new QueryRunnerAlreadyReleasedError(), 'lost'],
    [{ code: '22021' }, 'fatal'],
    [{ code: '22P02' }, 'fatal'],
    [{ code: '23503' }, 'fatal'],
    [{ code: '42601' }, 'fatal'],
    [{ code: '42P01' }, 'fatal'],
    [{ errno: 1064 }, 'fatal'],
    [{ errno: 1146 }, 'fatal'],
    [{ errno: 1406 }, 'fatal'],
    [{ errno: 1452 }, 'fatal'],
    [{ errcode: 2067 }, 'fatal'],
  ])('the database error %p is %s', (fields, fault) => {
    expect(faultOf(failed(fields))).toBe(fault);
    expect(faultOf(fields instanceof Error ? fields : Object.assign(new Error('raw'), fields))).toBe(fault);
  });

  it('a duplicate key is known', () => {
    for (const fields of [{ errno: 1062 }, { code: '23505' }]) expect(isDuplicate(failed(fields))).toBe(true);
    for (const fields of [{ errno: 1452 }, { code: '23503' }])
      expect(isDuplicate(failed(fields))).toBe(false);
  });

  it('what is no database error is taken as it is', () => {
    for (const error of [new Error('bug'), null, undefined, 'text', 1213])
      expect(faultOf(error)).toBe('fatal');
  });
});

describe('RetryBudget', () => {
  it('replays a conflict at most eleven times, with short growing waits', () => {
    const budget = new RetryBudget(() => 0);
    const waits = Array.from({ length: 12 }, () => budget.next('conflict'));
    expect(waits.at(-1)).toBeNull();
    waits.slice(0, 11).forEach((wait, n) => {
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(Math.min(3 * 2 ** n, 200));
    });
  });

  it('ends after three seconds whatever the number of tries', () => {
    let now = 0;
    const budget = new RetryBudget(() => now);
    expect(budget.next('unreachable')).toBeLessThanOrEqual(50);
    now = 2999;
    expect(budget.next('unreachable')).toBeNull();
  });
});
