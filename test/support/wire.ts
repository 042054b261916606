import { connect, type Socket } from 'node:net';
import { until } from './until';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A bare connection, whose bytes a test chooses. */
export interface RawConnection {
  readonly socket: Socket;
  /** The next answer; answers to HEAD cannot be read. */
  readonly answer: () => Promise<RawAnswer>;
}

export function connectTo(baseUrl: string): RawConnection {
  const { hostname, port } = new URL(baseUrl);
  // A hostile client does not hang up when the other side has.
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).setNoDelay();
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  const take = (): RawAnswer | null => {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const head = text.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    const rest = Buffer.from(text.slice(end + 4));
    if (rest.length < length) return null;
    text = rest.subarray(length).toString();
    return { status: Number(head.slice(9, 12)), head, body: rest.subarray(0, length).toString() };
  };
  return {
    socket,
    answer: async () => {
      let raw: RawAnswer | null = null;
      await until(() => (raw = take()) !== null);
      return raw!;
    },
  };
}

/** Sends these bytes on a connection of their own, and gives the first answer. */
export async function exchange(baseUrl: string, bytes: string): Promise<RawAnswer> {
  const { socket, answer } = connectTo(baseUrl);
  socket.write(bytes);
  const told = await answer();
  socket.destroy();
  return told;
}
