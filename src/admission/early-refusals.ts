import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { VerifiedTokens } from '../auth/verified-tokens';
import { Admission, shareOf } from './admission';
import { isAlwaysServed, parseHead } from './raw-head';
import { ShortRefusal } from './short-refusal';

/** A connection on which nothing was refused for so long is the HTTP server's alone again. */
const CALM_MS = 5000;
/** Who does not read its refusals has this many bytes of them at most. */
const MOST_UNREAD = 65_536;

type Listener = (chunk: Buffer) => void;
const watch = Symbol('watch');
type Watched = Socket & { [watch]?: Watch | undefined };

interface Watch {
  /** What the HTTP server does with bytes. */
  readonly feed: Listener;
  readonly listener: Listener;
  /** Whether the HTTP server has a request of this connection. */
  pending: boolean;
  refusedAt: number;
}

/**
 * Refuses from the bytes. What Node does to make a request of them, and an answer, costs more than to refuse it, and while far more comes than can be done, that is what is done most. On a connection that had to be refused something,
 * a chunk that is exactly one plain request, with no other before it, is answered here as long as there is no room; everything
 * else goes on to the HTTP server, and a connection on which anything else was seen is never looked at again.
 */
@Injectable()
export class EarlyRefusals {
  constructor(
    private readonly admission: Admission,
    private readonly tokens: VerifiedTokens,
    private readonly refusal: ShortRefusal,
  ) {}

  /** To be called for every request that comes through the HTTP server. */
  note(socket: Watched, response: ServerResponse): void {
    const watched = socket[watch];
    if (!watched) return;
    watched.pending = true;
    response.once('close', () => {
      watched.pending = false;
    });
  }

  /** To be called when something had to be refused on this connection. */
  watch(socket: Watched): void {
    const known = socket[watch];
    if (known) {
      known.refusedAt = performance.now();
      return;
    }
    const [feed, ...others] = socket.listeners('data') as Listener[];
    if (!feed || others.length > 0 || socket.destroyed) return;
    const listener: Listener = (chunk) => {
      this.#read(socket, watched, chunk);
    };
    const watched: Watch = { feed, listener, pending: false, refusedAt: performance.now() };
    socket[watch] = watched;
    socket.removeListener('data', feed);
    socket.on('data', listener);
  }

  #read(socket: Watched, watched: Watch, chunk: Buffer): void {
    const head = watched.pending ? null : parseHead(chunk);
    if (head && !isAlwaysServed(head.url)) {
      const tenant = this.tokens.tenantOfToken(head.token);
      if (this.admission.turnsAway(shareOf(tenant, head.method))) {
        watched.refusedAt = performance.now();
        if (socket.writableLength > MOST_UNREAD) socket.destroy();
        else socket.write(this.refusal.bytes(head));
        return;
      }
    }
    if (!head || performance.now() - watched.refusedAt > CALM_MS) this.#unwatch(socket, watched);
    watched.feed.call(socket, chunk);
  }

  #unwatch(socket: Watched, { feed, listener }: Watch): void {
    socket.removeListener('data', listener);
    socket.on('data', feed);
    // Who sends in another way is served, and refused, by the HTTP server.
    socket[watch] = undefined;
  }
}
