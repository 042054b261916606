import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { SignInErrors } from './auth.errors';

/** argon2id (the library's default variant) with 19 MiB, two passes, one lane: about 34 ms of a core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const AT_ONCE = 4;
const WAITING = 50;

/** Hashes and checks passwords, a few at a time: a flood of logins must not take the machine. */
@Injectable()
export class PasswordHasher {
  #running = 0;
  readonly #queue: (() => void)[] = [];
  readonly #decoy = hash('nobody has this password', COST);

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(password, COST));
  }

  /** Without a hash it takes the same time, and says no. */
  async verify(passwordHash: string | null, password: string): Promise<boolean> {
    const right = await this.#inTurn(async () => verify(passwordHash ?? (await this.#decoy), password));
    return right && passwordHash !== null;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#turn();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#queue.shift()?.();
    }
  }

  #turn(): Promise<void> {
    if (this.#queue.length >= WAITING) throw SignInErrors.BUSY();
    return new Promise((resolve) => this.#queue.push(resolve));
  }
}
