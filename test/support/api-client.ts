import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface ApiBody {
  code: number;
  msg: string;
  data: unknown;
}

export interface RefusalBody {
  reason: string;
  requestId: string;
  fields?: { field: string; message: string }[];
  ids?: number[];
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ApiBody;
  /** `data` of a refusal. */
  readonly refusal: RefusalBody;
}

/** A server closes connections that rest for five seconds; who reuses one just then gets nothing. */
const IDLE_MS = 4000;

type Headers = Record<string, string | string[]>;

/** Sends real requests over keep-alive connections; nothing is retried or followed. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    private readonly headers: Headers = {},
    private readonly agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: IDLE_MS }),
  ) {}

  as(token: string): ApiClient {
    return this.with({ authorization: `Bearer ${token}` });
  }

  with(headers: Headers): ApiClient {
    return new ApiClient(this.baseUrl, { ...this.headers, ...headers }, this.agent);
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
  send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const raw =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const type = raw === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        this.baseUrl + path,
        { method, agent: this.agent, headers: { ...type, ...this.headers, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            resolve(toAnswer(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString()));
          });
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(raw);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function toAnswer(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  return {
    status,
    headers,
    text,
    get body() {
      return JSON.parse(text) as ApiBody;
    },
    get refusal() {
      return this.body.data as RefusalBody;
    },
  };
}
