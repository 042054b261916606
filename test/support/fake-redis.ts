import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const INFO = 'redis_version:7.0.0\r\n';
/** A command of the protocol begins with the number of its words; its first word is its name. */
const COMMAND = /\*\d+\r\n\$\d+\r\n([a-z]+)\r\n/gi;

/** Speaks as much of Redis' protocol as a counter needs, and can stop answering while its connections stay open. */
export class FakeRedis {
  /** Takes connections and commands, and answers nothing. */
  hangs = false;
  /** How many commands have arrived that count. */
  counted = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeRedis> {
    const server = createServer();
    const redis = new FakeRedis(server);
    server.on('connection', (socket) => {
      redis.#serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      for (const [, name = ''] of chunk.toString().matchAll(COMMAND)) {
        const answer = this.#answer(name.toLowerCase());
        if (!this.hangs) socket.write(answer);
      }
    });
  }

  #answer(name: string): string {
    if (name === 'info') return `$${INFO.length}\r\n${INFO}\r\n`;
    if (name !== 'evalsha') return '+OK\r\n';
    this.counted += 1;
    return '*2\r\n:1\r\n:60000\r\n';
  }
}
