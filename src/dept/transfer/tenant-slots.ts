import type { RefusalFactory } from '../../errors/refusal';

/** Work of which each tenant may do one at a time, and all tenants of this process so many. */
export class TenantSlots {
  readonly #taken = new Set<string>();

  constructor(
    private readonly most: number,
    private readonly refusal: RefusalFactory,
  ) {}

  /** Takes a slot, and gives what frees it; refuses when there is none. */
  take(tenantId: string): () => void {
    if (this.#taken.has(tenantId) || this.#taken.size >= this.most) throw this.refusal();
    this.#taken.add(tenantId);
    let isFree = false;
    return () => {
      if (!isFree) this.#taken.delete(tenantId);
      isFree = true;
    };
  }
}
