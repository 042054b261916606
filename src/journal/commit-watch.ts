import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Commit, DomainEvents } from '../database/domain-events';
import { PLATFORM_TENANT } from '../tenancy/tenant-code';
import type { ChangeReader } from './change-reader.repository';

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

/** Tells which topics a commit concerns: of this process at once, of others within a moment, as long as topics are followed. */
export class CommitWatch {
  readonly #logger = new Logger('Journal');
  /** Of journals: everything up to here has been told. */
  readonly #versions = new LRUCache<string, number>({ max: 10_000 });
  readonly #endListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    events: DomainEvents,
    private readonly reader: ChangeReader,
    private readonly followed: ReadonlyMap<string, unknown>,
    private readonly tell: (topics: Iterable<string>) => void,
  ) {
    this.#endListening = events.onCommit((commit) => {
      this.#hear(commit);
    });
  }

  /** To be called when a topic is followed. */
  begin(): void {
    if (!this.#isStopped) this.#timer ??= setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  stop(): void {
    this.#isStopped = true;
    this.#endListening();
    clearTimeout(this.#timer);
  }

  #hear({ versions, lineages }: Commit): void {
    for (const [tenantId, version] of versions) {
      const known = this.#versions.get(tenantId) ?? NaN;
      // Another process may have changed other tenants just before; the next look finds that.
      if (tenantId !== PLATFORM_TENANT || version === known + 1) this.#versions.set(tenantId, version);
    }
    this.tell([...[...versions.keys()].map(journalTopic), ...topicsOf(lineages)]);
  }

  async #poll(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not look for changes; it is tried again');
    }
    this.#timer = undefined;
    if (this.followed.size > 0) this.begin();
  }

  async #look(): Promise<void> {
    const known = new Map<string, number | undefined>();
    for (const topic of this.followed.keys()) {
      const journal = JOURNAL.exec(topic)?.[1] ?? PLATFORM_TENANT;
      known.set(journal, this.#versions.get(journal));
    }
    for (const [journal, { version }] of await this.reader.statesOf([...known.keys()])) {
      const before = known.get(journal);
      // The second: this process has committed it meanwhile, and has told.
      if (version === before || version === this.#versions.get(journal)) continue;
      const tenants = journal === PLATFORM_TENANT ? await this.#changedSince(before) : [];
      this.tell([journalTopic(journal), ...tenants]);
      this.#versions.set(journal, version);
    }
  }

  async #changedSince(version: number | undefined): Promise<Iterable<string>> {
    const lineages = version === undefined ? null : await this.reader.lineagesAfter(version, MOST_LINEAGES);
    if (lineages && lineages.length < MOST_LINEAGES) return topicsOf(lineages);
    return [...this.followed.keys()].filter((topic) => topic.startsWith(TENANTS));
  }
}

function topicsOf(lineages: readonly string[]): Set<string> {
  return new Set(lineages.flatMap((lineage) => lineage.split(/[,;]/)).map(tenantsTopic));
}
