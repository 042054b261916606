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
  constructor(
    private readonly admission: Admission,
    private readonly tokens: VerifiedTokens,
    private readonly refusal: ShortRefusal,
  ) {}

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

  /** To be called when something had to be refused on this connection. */
  watch(socket: Watched): void {
    const known = socket[watch];
    if (known) {
      known.refusedAt = performance.now();
      return;
    }
    const [feed, ...others] = socket.listeners('data') as Listener[];
    if (!feed || others.length > 0 || socket.destroyed || known === null) return;
    const listener: Listener = (chunk) => {
      this.#read(socket, watched, chunk);
    };
    const watched: Watch = {
      feed,
      listener,
      pending: false,
      made: [],
      inStep: false,
      refusedAt: performance.now(),
    };
    socket[watch] = watched;
    socket.removeListener('data', feed);
    socket.on('data', listener);
  }

  #read(socket: Watched, watched: Watch, chunk: Buffer): void {
    const head = watched.pending ? null : parseHead(chunk);
    if (head && watched.inStep && !isAlwaysServed(head.url)) {
      const tenant = this.tokens.tenantOfToken(head.token) ?? '';
      if (this.admission.turnsAway(tenant, kindOf(head.method))) {
        watched.refusedAt = performance.now();
        if (socket.writableLength > MOST_UNREAD) socket.destroy();
        else socket.write(this.refusal.bytes(head));
        return;
      }
    }
    watched.made = [];
    watched.feed.call(socket, chunk);
    watched.inStep = head !== null && isThatOnly(watched.made, head);
    if (!watched.inStep) this.#unwatch(socket, watched, null);
    else if (performance.now() - watched.refusedAt > CALM_MS) this.#unwatch(socket, watched, undefined);
  }

  /** With null for good: who sends in another way is served, and refused, by the HTTP server. */
  #unwatch(socket: Watched, { feed, listener }: Watch, mark: null | undefined): void {
    socket.removeListener('data', listener);
    socket.on('data', feed);
    socket[watch] = mark;
  }
}

function isThatOnly([first, ...others]: readonly IncomingMessage[], { method, url }: RawHead): boolean {
  return others.length === 0 && first?.method === method && first.url === url && first.complete;
}
