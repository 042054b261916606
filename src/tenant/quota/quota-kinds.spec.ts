import { QuotaKinds, type QuotaKind } from './quota-kinds';

describe('kinds of quotas', () => {
  it('kinds of quotas are the six of the contract, then those of the host', () => {
    const kinds = new QuotaKinds([
      { name: 'x'.repeat(64), defaultTotal: -1 },
      { name: 'RiskReport', defaultTotal: 2 ** 31 - 1 },
    ]);
    expect(kinds.names).toHaveLength(8);
    expect([kinds.has('riskReport'), kinds.has('RiskReport'), kinds.has('RISKREPORT')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([kinds.defaultTotal('riskReport'), kinds.defaultTotal('RiskReport')]).toEqual([
      undefined,
      2 ** 31 - 1,
    ]);
    for (const name of ['toString', '__proto__', '']) expect(kinds.has(name)).toBe(false);
  });

  it.each<[QuotaKind[], string]>([
    [[{ name: 'riskReport', defaultTotal: 1 }], "'riskReport' is there already"],
    [[{ name: 'no space', defaultTotal: 1 }], "'no space' is not a name"],
    [[{ name: '', defaultTotal: 1 }], "'' is not a name"],
    [[{ name: 'x'.repeat(65), defaultTotal: 1 }], 'is not a name'],
    [[{ name: 'a\n', defaultTotal: 1 }], 'is not a name'],
    [[{ name: 'a', defaultTotal: -2 }], 'the defaultTotal of'],
    [[{ name: 'a', defaultTotal: 0.5 }], 'the defaultTotal of'],
    [[{ name: 'a', defaultTotal: 2 ** 31 }], 'the defaultTotal of'],
    [[1, 2].map((defaultTotal) => ({ name: 'a', defaultTotal })), 'names a kind twice'],
  ])('kinds of quotas are refused like %j', (kinds, message) => {
    expect(() => new QuotaKinds(kinds)).toThrow(message);
  });
});
