import { Injectable } from '@nestjs/common';
import { FairQueue } from '../../concurrency/fair-queue';
import { HistoryErrors, HttpErrors } from '../../errors/http.errors';
import type { Bilingual, Refusal } from '../../errors/refusal';
import { ChangeReader } from '../../journal/change-reader.repository';
import type { JournalState } from '../../journal/journal-state';
import { RequestContext } from '../../tenancy/request-context';
import { Clock } from '../../time/clock';
import { ZonedTime, type TimeSpan } from '../../time/zoned-time';
import { NOT_A_REQUEST } from '../../web/work-place';
import type { DeptSource } from '../dept-reader.repository';
import { DeptRepository } from '../dept.repository';
import { NOT_A_TIME } from './dept-history.dto';
import { DeptJournal, LONG_READS } from './dept-journal';
import { PastDeptReader } from './past-dept-reader';

const IN_FUTURE = { zh: '不能晚于现在', en: 'must not be in the future' };

/** A version or a time, as `DeptHistory.at` takes it. */
export type Moment = Date | number | string;

/** Departments as of a version or a time. */
@Injectable()
export class DeptAsOf {
  readonly #longReads = new FairQueue(LONG_READS);

  constructor(
    private readonly depts: DeptRepository,
    private readonly journal: ChangeReader,
    private readonly clock: Clock,
    private readonly time: ZonedTime,
  ) {}

  /** Reads departments as they were or, without a moment, as they are. Nothing else chooses between the two. */
  async read<T>(
    ctx: RequestContext,
    asOf: Moment | undefined,
    work: (depts: DeptSource) => Promise<T>,
    idle = NOT_A_REQUEST,
  ): Promise<T> {
    if (asOf === undefined) return work(this.depts.in(ctx, idle));
    const version = await this.versionAt(ctx, asOf);
    return this.readSince(ctx, version, (_, at) => work(at(version)), idle);
  }

  /** Reads the journal since a version, and departments as of that version and later ones, all within the bounds of one request. */
  async readSince<T>(
    ctx: RequestContext,
    version: number,
    work: (journal: DeptJournal, at: (version: number) => PastDeptReader) => Promise<T>,
    idle = NOT_A_REQUEST,
  ): Promise<T> {
    const journal = new DeptJournal(ctx, this.journal, this.#longReads, idle);
    try {
      return await work(journal, (each) => new PastDeptReader(each, this.depts.in(ctx), journal));
    } finally {
      // Once more: some entries may have been removed meanwhile.
      refuseGone(version, await this.journal.stateOf(ctx.tenantId));
    }
  }

  /** The version of a tenant's tree at a moment, or now; it must be kept. `field` is the parameter that tells the moment. */
  async versionAt(ctx: RequestContext, moment?: Moment, field = 'asOf'): Promise<number> {
    RequestContext.require(ctx);
    // What a unit has written is in the journal only when it is committed.
    if (ctx.unit) throw new Error('The past is read outside of a transaction.');
    const state = await this.journal.stateOf(ctx.tenantId);
    const isVersion = /^[0-9]+$/.test(String(moment));
    if (isVersion && Number(moment) > state.version) throw invalid(field, IN_FUTURE);
    const version =
      moment === undefined
        ? state.version
        : isVersion
          ? Number(moment)
          : await this.journal.versionAt(ctx.tenantId, this.#lastOf(moment, field));
    refuseGone(version, state);
    return version;
  }

  /** The last moment of a time that has begun. */
  #lastOf(moment: Moment, field: string): Date {
    const span: TimeSpan | null =
      moment instanceof Date ? { from: moment, until: moment } : this.time.parse(String(moment));
    if (!span || Number.isNaN(span.from.getTime())) throw invalid(field, NOT_A_TIME);
    const now = this.clock.now();
    if (span.from > now) throw invalid(field, IN_FUTURE);
    return span.until < now ? span.until : now;
  }
}

function invalid(field: string, message: Bilingual): Refusal {
  return HttpErrors.INVALID({ fields: [{ field, message }] });
}

function refuseGone(version: number, { keptFrom }: JournalState): void {
  if (version < keptFrom) throw HistoryErrors.GONE();
}
