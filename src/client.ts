import createClient, {
  type Client,
  type FetchOptions,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import type { FilterKeys, HttpMethod, MediaType, PathsWithMethod } from 'openapi-typescript-helpers';
import type { components, operations, paths } from './client/schema.generated';

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

/**
 * A call of one method. openapi-fetch's own type takes any further key, in bodies too; here a field that the document does
 * not know does not compile.
 */
type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: undefined extends MaybeOptionalInit<paths[Path], Method>
    ? [init?: FetchOptions<Operation<Path, Method>>]
    : [init: FetchOptions<Operation<Path, Method>>]
) => Promise<FetchResponse<Operation<Path, Method>, object, MediaType>>;

/** Every operation of the REST API by its method and path, with the types of the OpenAPI document. */
export interface TenantryClient extends Pick<Client<paths>, 'use' | 'eject'> {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
}

/**
 * A typed client of the REST API. Each call gives `{ data, error, response }`: `data` is the envelope of a success, `error` that
 * of a refusal.
 */
export function createTenantryClient({ baseUrl, token, fetch }: TenantryClientOptions): TenantryClient {
  const client = createClient<paths>({
    baseUrl,
    // Files are texts already.
    bodySerializer: (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body)),
    ...(fetch && { fetch }),
  });
  client.use({
    async onRequest({ request }) {
      const bearer = typeof token === 'function' ? await token() : token;
      if (bearer !== undefined) request.headers.set('Authorization', `Bearer ${bearer}`);
      return request;
    },
  });
  return client as TenantryClient;
}
