import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { load } from 'js-yaml';
import type { Exchange } from '../../src/server/testing';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: object;
  readonly required?: readonly string[];
}
interface DocumentedResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Record<string, { $ref: string }>;
  readonly content?: Record<string, { schema: Schema; examples?: Record<string, { readonly $ref: string }> }>;
}
export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: string[];
  readonly parameters?: object[];
  readonly callbacks?: Record<string, Record<string, Record<string, DocumentedOperation>>>;
  readonly responses: Record<string, DocumentedResponse>;
}
export interface OpenApiDocument {
  readonly tags: { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: {
    readonly responses: Record<string, DocumentedResponse>;
    readonly headers: Record<string, { required?: boolean }>;
    readonly parameters: Record<string, object>;
    readonly schemas: Record<string, Schema>;
    readonly examples: Record<string, { readonly value: object }>;
  };
}

const FILE = join(__dirname, '..', '..', 'docs', 'openapi.yaml');
/** Refused, whatever the address: the operation may be unknown. */
const ANY_REFUSAL = '#/components/schemas/TenantryRefusalEnvelope';

let loaded: Conformance | undefined;

/** Holds an answer against the committed document; throws when it is not as the document says. */
export function checkConformance(exchange: Exchange, alwaysOk = false): void {
  loaded ??= new Conformance(readDocument());
  loaded.check(exchange, alwaysOk);
}

export function readDocument(): OpenApiDocument {
  return load(readFileSync(FILE, 'utf8')) as OpenApiDocument;
}

/** The parameters of an operation, those that several operations share included. */
export function parametersOf<T extends object>(
  { components }: OpenApiDocument,
  { parameters = [] }: { readonly parameters?: readonly (T | { readonly $ref: string })[] },
): T[] {
  return parameters.map((each) =>
    '$ref' in each ? (components.parameters[each.$ref.split('/').at(-1)!] as T) : each,
  );
}

interface Schemas {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A schema with all that it inherits. */
export function wholeSchema<T extends Schema>({ components }: Schemas, schema: T): T {
  const { $ref, allOf = [], ...own } = schema;
  const named = $ref === undefined ? [] : [components.schemas[$ref.split('/').at(-1)!]!];
  const parts = [...named, ...allOf].map((part) => wholeSchema({ components }, part));
  if (parts.length === 0) return schema;
  return {
    ...(Object.assign({}, ...parts) as T),
    ...own,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as object,
    required: parts.flatMap(({ required = [] }) => required),
  };
}

/** The reasons that the description of an answer names. */
export function reasonsIn({ description = '' }: DocumentedResponse): string[] {
  return [...description.matchAll(/`([A-Z_]+)`: /g)].map((match) => match[1]!);
}

type Told = Pick<Exchange, 'headers' | 'text'> & { readonly address: string };

class Conformance {
  readonly #ajv: Ajv;
  readonly #routes: { readonly pattern: RegExp; readonly item: Record<string, DocumentedOperation> }[];
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenApiDocument) {
    const int32 = { type: 'number' as const, validate: (value: number) => (value | 0) === value };
    const int64 = { type: 'number' as const, validate: Number.isSafeInteger };
    this.#ajv = new Ajv({
      strict: false,
      formats: { int32, int64, date: /^\d{4}-\d\d-\d\d$/, email: true, password: true },
    });
    this.#ajv.addSchema(closed({ ...document, $id: 'document' }, document) as object);
    // A path without places goes before one that could take it.
    const paths = Object.entries(document.paths).sort(
      ([a], [b]) => a.split('{').length - b.split('{').length,
    );
    this.#routes = paths.map(([path, item]) => ({
      pattern: new RegExp(`^${path.replace(/\{[^}]*\}/g, '[^/]+')}/?$`),
      item,
    }));
  }

  check({ method, path, status, headers, text }: Exchange, alwaysOk: boolean): void {
    const [address = ''] = path.split('?');
    // Any path may end with one more slash, that of the root too.
    if (/^\/((health|docs|console)\b|\/?$)/.test(address) || method === 'HEAD') return;
    // What browsers ask in advance is no operation.
    if (method === 'OPTIONS' && status === 204 && text === '') return;
    const operation = this.#routes.find(({ pattern }) => pattern.test(address))?.item[method.toLowerCase()];
    const told = alwaysOk ? codeOf(status, headers['content-type'], text) : status;
    const problem = operation
      ? this.#problemOf(operation, told, { address, headers, text })
      : this.#problemOfRefusal(told, text, headers, this.#problemOfBody({ $ref: ANY_REFUSAL }, text));
    if (problem)
      throw new Error(`${method} ${path} answers ${status}, but ${problem}: ${text.slice(0, 500)}`);
  }

  #problemOf(operation: DocumentedOperation, told: number, { address, headers, text }: Told): string | null {
    const own = operation.responses[told];
    const response = this.#resolve(own ?? operation.responses.default);
    if (!response) return 'this status is not documented';
    const missing = Object.keys(response.headers ?? {}).find(
      (name) => this.document.components.headers[name]?.required && headers[name.toLowerCase()] === undefined,
    );
    if (missing !== undefined) return `the header ${missing} is missing`;
    if (headers.location !== undefined && !headers.location.startsWith(`${address.replace(/\/$/, '')}/`))
      return 'Location is not below what was called';
    if (!response.content) return text === '' ? null : 'a body is not documented';
    const [type = ''] = (headers['content-type'] ?? '').split(';');
    const content = response.content[type];
    if (!content) return `${type} is not documented`;
    if (type !== 'application/json') return null;
    const problem = this.#problemOfBody(content.schema, text);
    const isEnvelope = told !== 200 && operation.operationId !== 'token';
    if (!isEnvelope) return problem;
    const undocumented = problem ?? this.#problemOfReason(response, text);
    return this.#problemOfRefusal(told, text, headers, undocumented);
  }

  /** All refusals have one schema; which reasons an operation has is told by the descriptions of its answers. */
  #problemOfReason(response: DocumentedResponse, text: string): string | null {
    const { data } = JSON.parse(text) as { data: { reason: string } };
    return reasonsIn(response).includes(data.reason)
      ? null
      : `the reason ${data.reason} is not documented there`;
  }

  /** What a schema cannot say: that several parts of an answer belong together. */
  #problemOfRefusal(
    told: number,
    text: string,
    headers: Exchange['headers'],
    ofBody: string | null,
  ): string | null {
    if (ofBody !== null) return ofBody;
    const { code, data } = JSON.parse(text) as { code: number; data: { reason: string; requestId: string } };
    if (code !== told) return `its code is ${code}`;
    if (headers['x-request-id'] !== data.requestId) return 'its requestId is not that of the header';
    const { examples } = this.document.components;
    const named = examples[`${data.reason}_${told}`] ?? examples[data.reason];
    const example = named?.value as { data: object } | undefined;
    const left = Object.keys(example?.data ?? {}).find((key) => !(key in data));
    return left === undefined ? null : `${data.reason} always has ${left}`;
  }

  #problemOfBody(schema: Schema, text: string): string | null {
    const key = JSON.stringify(schema);
    const validate =
      this.#validators.get(key) ?? this.#ajv.compile(closed(withDocument(schema), this.document) as object);
    this.#validators.set(key, validate);
    return validate(JSON.parse(text)) ? null : this.#ajv.errorsText(validate.errors);
  }

  #resolve(response: DocumentedResponse | undefined): DocumentedResponse | undefined {
    const name = response?.$ref?.split('/').at(-1);
    return name === undefined ? response : this.document.components.responses[name];
  }
}

/** With `always-200` the status tells nothing. */
function codeOf(status: number, type = '', text: string): number {
  if (status !== 200 || !type.startsWith('application/json')) return status;
  return (JSON.parse(text) as { code?: number }).code ?? status;
}

function withDocument(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
}

/** A field that the document does not know is a mistake here; for clients it is allowed, so the document stays open. */
function closed(node: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(node)) return node.map((each) => closed(each, document));
  if (typeof node !== 'object' || node === null) return node;
  const whole = 'allOf' in node ? wholeSchema(document, node as Schema) : node;
  const copy = Object.fromEntries(
    Object.entries(whole).map(([key, value]) => [key, closed(value, document)]),
  );
  return copy.type === 'object' && copy.properties ? { additionalProperties: false, ...copy } : copy;
}
