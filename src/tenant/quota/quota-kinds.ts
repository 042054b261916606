/** The kinds of the contract, whose totals are part of the tenant. */
export const CONTRACT_QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
] as const;
export type ContractQuota = (typeof CONTRACT_QUOTAS)[number];

/** A kind of quota that a host adds. */
export interface QuotaKind {
  /** Up to 64 letters, digits, `-` and `_`. */
  readonly name: string;
  /** What every tenant has; -1 is unlimited. */
  readonly defaultTotal: number;
}

const NAME = /^[A-Za-z][\w-]{0,63}$/;
const MOST = 2 ** 31 - 1;

export function isContractQuota(kind: string): kind is ContractQuota {
  return CONTRACT_QUOTAS.includes(kind as ContractQuota);
}

/** All kinds of quotas: those of the contract, then the host's own. */
export class QuotaKinds {
  readonly #own: ReadonlyMap<string, number>;

  constructor(own: readonly QuotaKind[] = []) {
    for (const kind of own) refuseOddKind(kind);
    this.#own = new Map(own.map(({ name, defaultTotal }) => [name, defaultTotal]));
    if (this.#own.size < own.length) throw new Error('quotaKinds names a kind twice.');
  }

  get names(): readonly string[] {
    return [...CONTRACT_QUOTAS, ...this.#own.keys()];
  }

  has(name: string): boolean {
    return isContractQuota(name) || this.#own.has(name);
  }

  /** Of a kind of the host; undefined for others. */
  defaultTotal(name: string): number | undefined {
    return this.#own.get(name);
  }
}

function refuseOddKind({ name, defaultTotal }: QuotaKind): void {
  if (!NAME.test(name))
    throw new Error(`quotaKinds: '${name}' is not a name of up to 64 letters and digits.`);
  if (isContractQuota(name)) throw new Error(`quotaKinds: '${name}' is there already.`);
  if (!Number.isInteger(defaultTotal) || defaultTotal < -1 || defaultTotal > MOST)
    throw new Error(`quotaKinds: the defaultTotal of '${name}' must be a whole number from -1.`);
}
