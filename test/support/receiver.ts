import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A message that a webhook was sent. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly message: { readonly type: string; readonly timestamp: string; readonly data: Change };
}

interface Change {
  readonly tenantId: string;
  readonly version: number;
  readonly seq: number;
  readonly id: number | string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

type Answer = (response: ServerResponse, socket: Socket, received: Received) => void;

const fine: Answer = (response) => response.writeHead(204).end();

/** Somebody's server that webhooks are sent to. What it answers can be changed at any time, for each path. */
export class Receiver {
  readonly received: Received[] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        const path = request.url ?? '';
        const id = String(request.headers['webhook-id']);
        const message = JSON.parse(body) as Received['message'];
        const received = { id, path, headers: request.headers, body, message };
        this.received.push(received);
        (this.#answers.get(path) ?? fine)(response, request.socket, received);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  url(path = '/'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  answer(path: string, answer: Answer = fine): void {
    this.#answers.set(path, answer);
  }

  /** How many connections are open. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
  }

  /** What came to a path, in the order in which it came. */
  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Written from the specification, apart from the code that signs: whether one of the signatures is good. */
export function isGenuine(secret: string, { headers, body }: Received): boolean {
  const [id, timestamp, list] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name]),
  );
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update([id, timestamp, body].join('.')).digest();
  return list!.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const bytes = Buffer.from(text, 'base64');
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}
