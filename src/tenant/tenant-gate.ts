import { Injectable } from '@nestjs/common';
import type { Refusal } from '../http/error-catalogue';
import { UnitOfWork } from '../database/unit-of-work';
import { TenantAdmission } from '../tenancy/tenant-admission';
import { Clock } from '../time/clock';
import { TenantEntity } from './tenant.entity';
import { TenantErrors } from './tenant.errors';

interface Verdict {
  readonly refusal: Refusal | null;
  readonly until: number;
}

const FRESH_MS = 5000;
const MAX_REMEMBERED = 10_000;

/** Lets users of live tenants in, without a query per request: what it knows is at most five seconds old. */
@Injectable()
export class TenantGate extends TenantAdmission {
  readonly #verdicts = new Map<string, Verdict>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async admit(tenantId: string): Promise<void> {
    const now = this.clock.now().getTime();
    let verdict = this.#verdicts.get(tenantId);
    if (!verdict || verdict.until <= now) {
      verdict = { refusal: await this.#judge(tenantId), until: now + FRESH_MS };
      this.#remember(tenantId, verdict);
    }
    if (verdict.refusal) throw verdict.refusal;
  }

  async #judge(tenantId: string): Promise<Refusal | null> {
    const tenant = await this.unitOfWork.read((manager) =>
      manager.findOneBy(TenantEntity, { tenantId, delFlag: '0' }),
    );
    if (!tenant) return TenantErrors.GONE();
    return tenant.status === '0' ? null : TenantErrors.DISABLED();
  }

  #remember(tenantId: string, verdict: Verdict): void {
    if (this.#verdicts.size >= MAX_REMEMBERED) this.#verdicts.clear();
    this.#verdicts.set(tenantId, verdict);
  }
}
