import { readRevocation } from './revocation-relay';

describe('a revocation', () => {
  it('a revocation tells what to forget', () => {
    expect(readRevocation('account account:12')).toEqual({ kind: 'account', key: 'account:12' });
    const hash = '0f'.repeat(32);
    expect(readRevocation(`key ${hash}`)).toEqual({ kind: 'key', key: hash });
    expect(readRevocation('tenant 123456')).toEqual({ kind: 'tenant', key: '123456' });
  });

  it.each(['', 'tenant', 'tenant ', 'tenants 1', 'session 1', 'tenant 1 2', 'tenant 1\n', 'x'.repeat(999)])(
    'a revocation is nothing when it is %j',
    (message) => {
      expect(readRevocation(message)).toBeNull();
    },
  );
});
