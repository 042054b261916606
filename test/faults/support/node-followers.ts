import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildService } from '../../support/child-service';
import { Follower } from '../../support/follower';

const PAUSE_MS = 50;

/** Copies of some tenants, each of which follows the journal on one node and goes on when the node is away. */
export class NodeFollowers {
  readonly #followers: readonly Follower[];
  #isOver = false;
  readonly #running: Promise<unknown>;
  interrupted = 0;

  constructor(service: ChildService, tenantIds: readonly string[]) {
    const query = { kinds: 'dept,user' };
    this.#followers = tenantIds.map((tenantId) => new Follower(service.as({ tenantId }), undefined, query));
    this.#running = Promise.all(this.#followers.map((follower) => this.#follow(follower)));
  }

  /** Reads to the end, once the nodes are whole again. */
  async end(): Promise<readonly Follower[]> {
    this.#isOver = true;
    await this.#running;
    return Promise.all(this.#followers.map((follower) => follower.catchUp(100)));
  }

  async #follow(follower: Follower): Promise<void> {
    while (!this.#isOver) {
      await follower.catchUp(100).catch(() => {
        this.interrupted += 1;
      });
      await sleep(PAUSE_MS);
    }
  }
}
