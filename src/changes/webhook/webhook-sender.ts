import { randomUUID } from 'node:crypto';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { TenantryChange } from '../../journal/change-log';
import { Meter } from '../../database/meter';
import { HttpErrors } from '../../errors/http.errors';
import { Clock } from '../../time/clock';
import { ZonedTime } from '../../time/zoned-time';
import { toChangeView } from '../../journal/change-view';
import { coded, lookupPublic, publicAddressesOf } from './public-address';
import type { TenantryDelivery, TenantryWebhook } from '../subscription.entity';
import { signaturesOf } from './webhook-secret';

/** Where webhooks may lead. */
export interface WebhookOptions {
  /** Also to loopback, private and link-local addresses. Default `false`. */
  readonly allowPrivateAddresses?: boolean;
  /** Also by `http`. Default `false`. */
  readonly allowHttp?: boolean;
}

export abstract class WebhookSettings implements Required<WebhookOptions> {
  abstract readonly allowPrivateAddresses: boolean;
  abstract readonly allowHttp: boolean;
}

type Hook = Pick<TenantryWebhook, 'webhookId' | 'tenantId' | 'url' | 'secret' | 'oldSecrets'>;

interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: Date;
  readonly data: object;
}

/** `statusCode` is null without an answer; then `error` is the code of what happened. */
export type DeliveryResult = Pick<TenantryDelivery, 'statusCode' | 'error' | 'durationMs' | 'sentAt'>;

/** What has become of a message. */
export type Sent = DeliveryResult & Pick<TenantryDelivery, 'messageId'>;

export function isDelivered({ statusCode }: DeliveryResult): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/** More of an answer is not read, nor for longer: its status has told all. */
const MOST_READ = 16 * 1024;
const LONGEST_READ_MS = 1000;
/** Less than the five seconds after which many servers close a connection that rests. */
const REST_MS = 4000;
const REFUSED = {
  https: { zh: '必须为 https 地址', en: 'must be an https address' },
  public: {
    zh: '域名无法解析，或指向非公网地址',
    en: 'must have a name that leads to public addresses only',
  },
};

/** Sends messages as the Standard Webhooks specification says. */
@Injectable()
export class WebhookSender implements BeforeApplicationShutdown {
  /** For the whole exchange. */
  timeoutMs = 10_000;
  readonly #options = { keepAlive: true, timeout: REST_MS };
  readonly #http = new HttpAgent(this.#options);
  readonly #https = new HttpsAgent(this.#options);
  readonly #underWay = new Set<ClientRequest>();
  #isStopped = false;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly clock: Clock,
    private readonly meter: Meter,
    private readonly time: ZonedTime,
  ) {}

  /** Cuts off what is still under way, before the server waits for the requests that wait for it. */
  beforeApplicationShutdown(): void {
    this.#isStopped = true;
    for (const request of this.#underWay) request.destroy(coded('STOPPED'));
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Refuses an address that nothing would be sent to. `outside` bounds how many wait for name servers. */
  async checkUrl(text: string, outside: (lookUp: () => Promise<boolean>) => Promise<boolean>): Promise<void> {
    const url = new URL(text);
    const refuse = (message: (typeof REFUSED)['https']) =>
      HttpErrors.INVALID({ fields: [{ field: 'url', message }] });
    if (url.protocol !== 'https:' && !this.settings.allowHttp) throw refuse(REFUSED.https);
    if (this.settings.allowPrivateAddresses) return;
    const host = hostOf(url);
    const isPublic = () =>
      publicAddressesOf(host).then(
        () => true,
        () => false,
      );
    if (!(await (isIP(host) === 0 ? outside(isPublic) : isPublic()))) throw refuse(REFUSED.public);
  }

  /** Sends an entry of a journal; its message has the same id in every try. Never fails: what goes wrong is the outcome. */
  sendChange(hook: Hook, entry: TenantryChange): Promise<Sent> {
    const { tenantId: journal, version, seq, kind, operation, happenedAt: timestamp } = entry;
    const id = `msg_${journal}_${version}_${seq}_${hook.webhookId}`;
    const data = toChangeView(entry, this.time, hook.tenantId);
    return this.#send(hook, { id, type: `${kind}.${operation}`, timestamp, data });
  }

  /** Sends a message of the type `ping`. */
  ping(hook: Hook): Promise<Sent> {
    const { webhookId } = hook;
    const id = `msg_ping_${randomUUID()}`;
    return this.#send(hook, { id, type: 'ping', timestamp: this.clock.now(), data: { webhookId } });
  }

  async #send(hook: Hook, message: Message): Promise<Sent> {
    const outcome = await this.#exchange(hook, message);
    this.meter.webhookSent?.(isDelivered(outcome) ? 'delivered' : 'failed');
    return { messageId: message.id, ...outcome };
  }

  async #exchange(hook: Hook, message: Message): Promise<DeliveryResult> {
    const sentAt = this.clock.now();
    const began = performance.now();
    const { type, timestamp, data } = message;
    const body = JSON.stringify({ type, timestamp: timestamp.toISOString(), data });
    const seconds = Math.floor(sentAt.getTime() / 1000);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Tenantry',
      'webhook-id': message.id,
      'webhook-timestamp': seconds,
      'webhook-signature': signaturesOf(hook, `${message.id}.${seconds}.${body}`, sentAt),
    };
    const took = () => ({ durationMs: Math.round(performance.now() - began), sentAt });
    try {
      const statusCode = await this.#post(new URL(hook.url), headers, body, began + this.timeoutMs);
      return { statusCode, error: null, ...took() };
    } catch (error) {
      const { code = 'FAILED' } = error as NodeJS.ErrnoException;
      return { statusCode: null, error: code, ...took() };
    }
  }

  /** Gives the status of the answer. When it is settled, the socket is destroyed or free for the next message. */
  async #post(url: URL, headers: OutgoingHttpHeaders, body: string, deadline: number): Promise<number> {
    const { allowPrivateAddresses } = this.settings;
    const isTls = url.protocol === 'https:';
    if (!isTls && !this.settings.allowHttp) throw coded('HTTP_NOT_ALLOWED');
    // Sockets look no address up when the host is one.
    if (!allowPrivateAddresses && isIP(hostOf(url)) !== 0) await publicAddressesOf(hostOf(url));
    if (this.#isStopped) throw coded('STOPPED');
    const lookup = allowPrivateAddresses ? {} : { lookup: lookupPublic };
    const agent = isTls ? this.#https : this.#http;
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        headers,
        agent,
        ...lookup,
      });
      const cut = request.destroy.bind(request, coded('TIMEOUT'));
      const timers = [setTimeout(cut, deadline - performance.now())];
      let status: number | undefined;
      this.#underWay.add(request);
      request.on('response', (response) => {
        status = response.statusCode;
        timers.push(setTimeout(cut, LONGEST_READ_MS));
        let read = 0;
        response.on('data', (chunk: Buffer) => {
          read += chunk.length;
          if (read > MOST_READ) cut();
        });
        response.on('error', () => undefined);
      });
      // Nothing more is said in HTTP on a connection after 101.
      request.on('upgrade', ({ statusCode }, socket) => {
        status = statusCode;
        socket.destroy();
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver has closed a connection that rested, in the very moment when it was used again.
        if (request.reusedSocket && error.code === 'ECONNRESET')
          resolve(this.#post(url, headers, body, deadline));
        else if (status === undefined) reject(error);
      });
      request.once('close', () => {
        this.#underWay.delete(request);
        timers.forEach(clearTimeout);
        if (status === undefined) reject(coded('ECONNRESET'));
        else resolve(status);
      });
      request.end(body);
    });
  }
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
