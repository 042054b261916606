import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface ApiBody {
  code: number;
  msg: string;
  data: unknown;
}

export interface RefusalBody {
  reason: string;
  requestId: string;
  fields?: { line?: number; field: string; message: string }[];
  ids?: number[];
  /** Of a quota. */
  available?: number;
  /** The one that is missing. */
  permission?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ApiBody;
  /** `data` of a refusal. */
  readonly refusal: RefusalBody;
}

/** One request and its answer, as `inspect` gets them. */
export interface Exchange extends Pick<Answer, 'status' | 'headers' | 'text'> {
  readonly method: string;
  readonly path: string;
}

/** Servers close idle connections after five seconds; reusing one just then would fail. */
const IDLE_MS = 4000;

type Headers = Record<string, string | string[]>;

/** Sends real requests over keep-alive connections; nothing is retried or followed. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    private readonly headers: Headers = {},
    /** Sees every answer; what it throws fails the request. */
    private readonly inspect: (exchange: Exchange) => void = () => undefined,
    private readonly agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: IDLE_MS }),
  ) {}

  as(token: string): ApiClient {
    return this.with({ authorization: `Bearer ${token}` });
  }

  with(headers: Headers): ApiClient {
    return new ApiClient(this.baseUrl, { ...this.headers, ...headers }, this.inspect, this.agent);
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers?: Headers): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body: unknown, headers?: Headers): Promise<Answer> {
    return this.send('PUT', path, body, headers);
  }

  patch(path: string, body: unknown, headers?: Headers): Promise<Answer> {
    return this.send('PATCH', path, body, headers);
  }

  delete(path: string, headers?: Headers): Promise<Answer> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** A body that is text or bytes is sent as it is, anything else as JSON. */
  async send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const raw =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const type = raw === undefined ? {} : { 'content-type': 'application/json' };
    const sent = httpRequest(this.baseUrl + path, {
      method,
      agent: this.agent,
      headers: { ...type, ...this.headers, ...headers },
    });
    // A connection may break after the answer has begun; then reading the answer fails.
    sent.on('error', () => undefined);
    sent.end(raw);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const text = (await buffer(response)).toString();
    const received = { status: response.statusCode ?? 0, headers: response.headers, text };
    this.inspect({ method, path, ...received });
    const answer: Answer = {
      ...received,
      get body() {
        return JSON.parse(text) as ApiBody;
      },
      get refusal() {
        return this.body.data as RefusalBody;
      },
    };
    return answer;
  }

  close(): void {
    this.agent.destroy();
  }
}
