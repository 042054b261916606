import { fromMessage, toMessage } from './revocation';

describe('a revocation', () => {
  it('arrives as it was sent', () => {
    for (const revocation of [
      { kind: 'account', key: 'account:12' },
      { kind: 'tenant', key: '123456' },
    ] as const) {
      expect(fromMessage(toMessage(revocation))).toEqual(revocation);
    }
  });

  it('is nothing when it is not one', () => {
    for (const message of [
      '',
      'tenant',
      'tenant ',
      'tenants 1',
      'session 0f8fad5b-d9cb-469f-a165-70867728950e',
      'tenant 1 2',
      'tenant 1\n',
      'x'.repeat(999),
    ]) {
      expect(fromMessage(message)).toBeNull();
    }
  });
});
