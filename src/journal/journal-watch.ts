import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { UnitOfWork } from '../database/unit-of-work';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import { ChangeLog } from './change-log';
import { ChangeReader } from './change-reader.repository';

/** How often the database is asked for commits of other processes, in one statement for all topics. */
const POLL_MS = 400;
/** Where more tenants than that have changed since the last look, every topic about tenants is told of it. */
const MOST_LINEAGES = 1000;

/** What is committed in the journal of this tenant. */
export const journalTopic = (tenantId: string): string => `journal ${tenantId}`;
/** What happens to tenants at or below this one; it stands in the journal of the platform. */
export const tenantsTopic = (tenantId: string): string => `${TENANTS}${tenantId}`;

const TENANTS = 'tenants ';
const JOURNAL = /^journal (.*)/;

/** Is called with a number that grows with each commit. */
type Wake = (commit: number) => void;

/** Wakes those who follow a topic when something is committed: in this process at once, in others within a moment. */
@Injectable()
export class JournalWatch implements OnModuleDestroy {
  readonly #logger = new Logger('Journal');
  readonly #followers = new Map<string, Set<Wake>>();
  /** Of journals: everything up to here has been told. */
  readonly #versions = new LRUCache<string, number>({ max: 10_000 });
  readonly #endListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #commits = 0;
  #isStopped = false;

  constructor(
    unitOfWork: UnitOfWork,
    private readonly reader: ChangeReader,
  ) {
    this.#endListening = unitOfWork.onCommit((unit) => {
      this.#hear(unit.part(ChangeLog));
    });
  }

  get commits(): number {
    return this.#commits;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Wakes all at once: nobody waits any longer. */
  onModuleDestroy(): void {
    this.#isStopped = true;
    this.#endListening();
    clearTimeout(this.#timer);
    this.#tell(this.#followers.keys());
  }

  /** Calls `wake` for each commit that concerns one of the topics. Gives a function that ends it. */
  follow(topics: readonly string[], wake: Wake): () => void {
    for (const topic of topics)
      this.#followers.set(topic, (this.#followers.get(topic) ?? new Set()).add(wake));
    this.#begin();
    return () => {
      for (const topic of topics) {
        const others = this.#followers.get(topic);
        others?.delete(wake);
        if (others?.size === 0) this.#followers.delete(topic);
      }
    };
  }

  #begin(): void {
    if (!this.#isStopped) this.#timer ??= setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  #tell(topics: Iterable<string>): void {
    this.#commits += 1;
    for (const topic of topics) for (const wake of this.#followers.get(topic) ?? []) wake(this.#commits);
  }

  #hear({ versions, lineages }: ChangeLog): void {
    for (const [tenantId, version] of versions) {
      const known = this.#versions.get(tenantId) ?? NaN;
      // Another process may have changed other tenants just before; the next look finds that.
      if (tenantId !== PLATFORM_TENANT || version === known + 1) this.#versions.set(tenantId, version);
    }
    this.#tell([...[...versions.keys()].map(journalTopic), ...topicsOf(lineages)]);
  }

  async #poll(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not look for changes; it is tried again');
    }
    this.#timer = undefined;
    if (this.#followers.size > 0) this.#begin();
  }

  async #look(): Promise<void> {
    const known = new Map<string, number | undefined>();
    for (const topic of this.#followers.keys()) {
      const journal = JOURNAL.exec(topic)?.[1] ?? PLATFORM_TENANT;
      known.set(journal, this.#versions.get(journal));
    }
    for (const [journal, { version }] of await this.reader.statesOf([...known.keys()])) {
      const before = known.get(journal);
      // The second: this process has committed it meanwhile, and has told.
      if (version === before || version === this.#versions.get(journal)) continue;
      const tenants = journal === PLATFORM_TENANT ? await this.#changedSince(before) : [];
      this.#tell([journalTopic(journal), ...tenants]);
      this.#versions.set(journal, version);
    }
  }

  async #changedSince(version: number | undefined): Promise<Iterable<string>> {
    const lineages = version === undefined ? null : await this.reader.lineagesAfter(version, MOST_LINEAGES);
    if (lineages && lineages.length < MOST_LINEAGES) return topicsOf(lineages);
    return [...this.#followers.keys()].filter((topic) => topic.startsWith(TENANTS));
  }
}

function topicsOf(lineages: readonly string[]): Set<string> {
  return new Set(lineages.flatMap((lineage) => lineage.split(/[,;]/)).map(tenantsTopic));
}
