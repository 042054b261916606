import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * What the proxy does with a COMMIT: it never arrives, or its answer does not, because the connection is cut or because it
 * stays open in silence.
 */
export type CommitFault = 'cut-before' | 'cut-after' | 'hang-after';

/** Stands between the service and its database server, and breaks connections where it hurts. */
export class TcpProxy {
  /** For the next one. */
  fault: CommitFault | null = null;
  /** Asked for each one, when there is no fault for the next. */
  chooseFault: (() => CommitFault | null) | null = null;
  struck = 0;
  /** What happens while a COMMIT is held back that will never arrive; the cut waits for it. */
  beforeCut: (() => Promise<void>) | null = null;
  /** Takes connections and bytes, and passes nothing on. */
  frozen = false;
  /** Answers come so much later, in milliseconds. */
  delay = 0;
  #open = true;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
    /** Where new connections go; another one after a failover. */
    public upstreamPort: number,
  ) {}

  /** A proxy before the database of this URL, and the URL that leads through it. */
  static async before(database: string): Promise<{ proxy: TcpProxy; url: string }> {
    const url = new URL(database);
    const [host, port] = [url.hostname, Number(url.port || 3306)];
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new TcpProxy(server, (server.address() as AddressInfo).port, port);
    server.on('connection', (client) => {
      proxy.#relay(client, host, proxy.upstreamPort);
    });
    url.host = `127.0.0.1:${proxy.port}`;
    return { proxy, url: url.href };
  }

  /** Cuts every connection and refuses new ones until it is opened again. */
  set open(open: boolean) {
    this.#open = open;
    if (!open) for (const socket of this.#sockets) socket.destroy();
  }

  #relay(client: Socket, host: string, port: number): void {
    if (!this.#open) {
      client.destroy();
      return;
    }
    const upstream = connect(port, host);
    let swallow: 'cut' | 'hang' | null = null;
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (chunk: Buffer) => {
      if (this.frozen) return;
      const fault = chunk.includes('COMMIT') ? (this.fault ?? this.chooseFault?.() ?? null) : null;
      if (fault === null) {
        upstream.write(chunk);
        return;
      }
      this.fault = null;
      this.struck += 1;
      if (fault === 'cut-before') {
        void Promise.resolve(this.beforeCut?.()).finally(() => client.destroy());
      } else {
        swallow = fault === 'cut-after' ? 'cut' : 'hang';
        upstream.write(chunk);
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      if (this.frozen) return;
      if (swallow === 'cut') client.destroy();
      if (swallow !== null) return;
      if (this.delay > 0) setTimeout(() => client.writable && client.write(chunk), this.delay);
      else client.write(chunk);
    });
  }

  async close(): Promise<void> {
    this.open = false;
    await new Promise((resolve) => this.server.close(resolve));
  }
}
