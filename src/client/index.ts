import createClient, {
  type Client,
  type FetchOptions,
  type MaybeOptionalInit,
  type ParseAs,
  type ParseAsResponse,
} from 'openapi-fetch';
import type {
  ErrorResponse,
  FilterKeys,
  HttpMethod,
  PathsWithMethod,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import type { components, operations, paths } from './schema.generated';

export type { components, operations, paths };

/** What a client of the REST API needs to know. */
export interface TenantryClientOptions {
  /** Where the service is, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** An access token, or what gives one for each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** In the place of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

type Operation<Path extends keyof paths, Method extends HttpMethod> = Extract<
  FilterKeys<paths[Path], Method>,
  Record<string | number, unknown>
>;

type Init<Path extends keyof paths, Method extends HttpMethod, As> = FetchOptions<Operation<Path, Method>> & {
  parseAs?: As;
};

/** JSON, if the answer may be that; whoever asks for something else says how it is parsed (`parseAs`). */
type Answered<Responses extends Record<string | number, unknown>> = Responses extends {
  200: { content: { 'application/json': infer Envelope } };
}
  ? Envelope
  : SuccessResponse<Responses>;

/** Not openapi-fetch's own: it would leave out a `data` that is always null. */
type ResponseOf<Operation, As extends ParseAs> = Operation extends {
  responses: infer Responses extends Record<string | number, unknown>;
}
  ? | {
        data: ParseAsResponse<Answered<Responses>, { parseAs: As }>;
        error?: never;
        response: Response;
      }
    | { data?: never; error: ErrorResponse<Responses>; response: Response }
  : never;

/**
 * A call of one method. openapi-fetch's own type takes any further key, in bodies too; here a field that the document does
 * not know does not compile.
 */
type Call<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  As extends ParseAs = 'json',
>(
  path: Path,
  ...init: undefined extends MaybeOptionalInit<paths[Path], Method>
    ? [init?: Init<Path, Method, As>]
    : [init: Init<Path, Method, As>]
) => Promise<ResponseOf<Operation<Path, Method>, As>>;

/** Every operation of the REST API by its method and path, with the types of the OpenAPI document. */
export interface TenantryClient extends Pick<Client<paths>, 'use' | 'eject'> {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
}

/** What is not JSON: said here once, so that callers need not. */
const FORMS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/system/dept-api/export': { parseAs: 'text' },
  '/system/dept-api/import': { headers: { 'Content-Type': 'application/x-ndjson' }, bodySerializer: String },
  '/auth/token': {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    bodySerializer: (body: Record<string, string>) => new URLSearchParams(body).toString(),
  },
};

/**
 * A typed client of the REST API. Each call gives `{ data, error, response }`: `data` is the envelope of a success, `error` that
 * of a refusal.
 */
export function createTenantryClient({ baseUrl, token, fetch }: TenantryClientOptions): TenantryClient {
  // Lists in an address are separated by commas.
  const querySerializer = { array: { style: 'form', explode: false } } as const;
  const client = createClient<paths>({ baseUrl, querySerializer, ...(fetch && { fetch }) });
  client.use({
    async onRequest({ request }) {
      const bearer = typeof token === 'function' ? await token() : token;
      if (bearer !== undefined) request.headers.set('Authorization', `Bearer ${bearer}`);
      // A typo must not be a success; whoever wants it otherwise sends `handling=lenient`.
      if (!request.headers.has('Prefer')) request.headers.set('Prefer', 'handling=strict');
      return request;
    },
    onResponse: ({ response }) => withStatus(response),
  });
  const calls = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => {
    const send = client[method] as (path: string, init: object) => Promise<unknown>;
    return [method, (path: string, init: object = {}) => send(path, { ...FORMS[path], ...init })];
  });
  const middleware = { use: client.use.bind(client), eject: client.eject.bind(client) };
  return { ...Object.fromEntries(calls), ...middleware } as TenantryClient;
}

/** A service that always answers 200 tells a refusal by its code alone; it is one all the same. */
async function withStatus(response: Response): Promise<Response | undefined> {
  if (response.status !== 200 || !response.headers.get('content-type')?.startsWith('application/json'))
    return undefined;
  const { code = 200 } = (await response.clone().json()) as { code?: number };
  return code === 200 ? undefined : new Response(response.body, { status: code, headers: response.headers });
}
