import { createConnection, type Connection, type ConnectionOptions } from 'mysql2';

const BEAT_MS = 500;
/** Counted in turns of our own timer, not by the clock: when this process stood still, the server is not to blame. */
const SLOW_AFTER = 3;
const LOST_AFTER = 5;

export type PulseState = 'well' | 'slow' | 'lost';

/**
 * Asks the server for nothing, twice a second, on a connection of its own. A statement that takes long may be a large one;
 * only when the server does not even answer this has it stopped answering.
 */
export class Pulse {
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Turns that the question has been waiting for its answer; null while none is asked. */
  #waited: number | null = null;
  #state: PulseState = 'well';

  constructor(
    private readonly options: ConnectionOptions,
    private readonly onLost: () => void,
  ) {}

  get state(): PulseState {
    return this.#state;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#beat();
    }, BEAT_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#hangUp();
  }

  #beat(): void {
    if (this.#waited === null) {
      this.#ask();
      return;
    }
    this.#waited += 1;
    if (this.#waited >= SLOW_AFTER && this.#state === 'well') this.#state = 'slow';
    if (this.#waited < (this.#state === 'lost' ? 2 : LOST_AFTER)) return;
    this.#hangUp();
    if (this.#state === 'lost') return;
    this.#state = 'lost';
    this.onLost();
  }

  #ask(): void {
    this.#waited = 0;
    const connection = (this.#connection ??= this.#connect());
    connection.ping((error) => {
      if (connection !== this.#connection) return;
      // A server that is away says so at once: nobody waits for it, and units of work try again by themselves.
      if (error) this.#hangUp();
      else this.#state = (this.#waited ?? 0) >= SLOW_AFTER ? 'slow' : 'well';
      this.#waited = null;
    });
  }

  #connect(): Connection {
    const connection = createConnection(this.options);
    connection.on('error', () => {
      if (connection === this.#connection) this.#hangUp();
    });
    return connection;
  }

  #hangUp(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#waited = null;
  }
}
