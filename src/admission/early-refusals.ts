import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { VerifiedTokens } from '../auth/verified-tokens';
import { Admission } from './admission';
import { isAlwaysServed, parseHead, type RawHead } from './raw-head';
import { kindOf } from './share';
import { ShortRefusal } from './short-refusal';

/** A connection on which nothing was refused for so long is the HTTP server's alone again. */
const CALM_MS = 5000;
/** Who does not read its refusals has this many bytes of them at most. */
const MOST_UNREAD = 65_536;

type Listener = (chunk: Buffer) => void;
const watch = Symbol('watch');
/** Null: never again. */
type Watched = Socket & { [watch]?: Watch | null | undefined };

interface Watch {
  /** What the HTTP server does with bytes. */
  readonly feed: Listener;
  readonly listener: Listener;
  /** Whether the HTTP server has a request of this connection that is not read or not answered to its end. */
  pending: boolean;
  /** Which requests the HTTP server has made of the bytes it was given last. */
  made: IncomingMessage[];
  /** Whether the next byte begins a request for the HTTP server too. */
  inStep: boolean;
  refusedAt: number;
}

/**
 * Refuses from the bytes. What Node does to make a request of them, and an answer, costs more than to refuse it, and while
 * far more comes than can be done, that is what is done most. On a connection that had to be refused something, a chunk that
 * is exactly one plain request, with no other before it, is answered here as long as there is no room; everything else goes
 * on to the HTTP server, and a connection on which anything else was seen is never looked at again.
 *
 * What looks like a request may be a part of one: a body that comes after its refusal, or the rest of a head. So nothing is
 * answered here before the HTTP server, given such a chunk, has made exactly that request of it and read it to its end.
 */
@Injectable()
export class EarlyRefusals {
  #isOver = false;

  constructor(
    private readonly admission: Admission,
    private readonly tokens: VerifiedTokens,
    private readonly refusal: ShortRefusal,
  ) {}

  /**
   * From then on nothing is refused here: the service stops, and the HTTP server tells clients that their connections end; or
   * its operator does not want it.
   */
  end(): void {
    this.#isOver = true;
  }

  /** To be called for every request that comes through the HTTP server. */
  note(request: IncomingMessage, response: ServerResponse): void {
    const watched = (request.socket as Watched)[watch];
    if (!watched) return;
    watched.pending = true;
    watched.made.push(request);
    response.once('close', () => {
      watched.pending = !request.complete;
    });
  }

  /** To be called when a request had to be refused. */
  watch(request: IncomingMessage): void {
    const socket: Watched = request.socket;
    const known = socket[watch];
    if (known) known.refusedAt = performance.now();
    if (known !== undefined || this.#isOver) return;
    // Not before the HTTP server has done with the chunk, and with the body: the connection may be nobody's afterwards, and
    // one that it has paused would never go on.
    setImmediate(() => {
      if (socket[watch] === undefined && !socket.isPaused()) this.#begin(socket, request);
    });
  }

  #begin(socket: Watched, request: IncomingMessage): void {
    const [feed] = socket.listeners('data') as Listener[];
    if (!feed || !isAlone(socket, feed)) return;
    const listener: Listener = (chunk) => {
      this.#read(socket, watched, chunk);
    };
    const watched: Watch = {
      feed,
      listener,
      pending: !request.complete,
      made: [],
      inStep: false,
      refusedAt: performance.now(),
    };
    socket[watch] = watched;
    replace(socket, feed, listener);
  }

  #read(socket: Watched, watched: Watch, chunk: Buffer): void {
    const { feed, listener } = watched;
    const head = watched.pending ? null : parseHead(chunk);
    if (head && watched.inStep && !this.#isOver && !isAlwaysServed(head.url)) {
      const tenant = this.tokens.tenantOfToken(head.token) ?? '';
      if (this.admission.turnsAway(tenant, kindOf(head.method))) {
        watched.refusedAt = performance.now();
        if (socket.writableLength > MOST_UNREAD) socket.destroy();
        else socket.write(this.refusal.bytes(head));
        return;
      }
    }
    // Its own again while it reads: it may give the connection away, and takes back only what it finds.
    replace(socket, listener, feed);
    watched.made = [];
    feed.call(socket, chunk);
    watched.inStep = head !== null && isThatOnly(watched.made, head);
    if (!watched.inStep || !isAlone(socket, feed)) socket[watch] = null;
    else if (performance.now() - watched.refusedAt > CALM_MS) socket[watch] = undefined;
    else replace(socket, feed, listener);
  }
}

function replace(socket: Socket, one: Listener, other: Listener): void {
  socket.on('data', other);
  socket.removeListener('data', one);
}

function isAlone(socket: Socket, listener: Listener): boolean {
  const [first, ...others] = socket.listeners('data');
  return first === listener && others.length === 0 && !socket.destroyed;
}

/**
 * Whether it was made of all the bytes in which we saw it: its head ends where ours does, or later; and as its body is as long and
 * ends no later, both end with the chunk.
 */
function isThatOnly(
  [first, ...others]: readonly IncomingMessage[],
  { method, url, length }: RawHead,
): boolean {
  if (others.length > 0 || !first?.complete) return false;
  return (
    first.method === method && first.url === url && Number(first.headers['content-length'] ?? 0) === length
  );
}
