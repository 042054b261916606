import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { parametersOf, readDocument, wholeSchema } from '../conformance';
import * as odd from './values';
import { nastyJson, nastyText } from './values';
import type { HostileCaller } from './world';

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly example?: string | number;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}
type Parameter = Readonly<{ name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema }>;
type Body = Readonly<{ schema: JsonSchema; example?: string | object }>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
}
type Sent = Readonly<{ headers: Readonly<Record<string, string>>; body: Buffer | null }>;
export type HostileRequest = Sent & Readonly<{ caller: string; method: string; target: string }>;
type Field = readonly [key: string, json: string];

const DOCUMENT = readDocument();
/** Those that check or make a password take a hundred times what others do: they come less often. */
const SLOW = ['login', 'token', 'createUser', 'changePassword'];
const MANY_PARAMETERS = Array.from({ length: 1500 }, (_, index) => `p${index}=1`).join('&');
const MANY_IDS = [500, 501, 10_000].map((length) => Array.from({ length }, (_, at) => at + 1).join());
const BOMB = gzipSync(Buffer.alloc(24_000_000, 0x20));
/** Bodies that are broken, too long, or packed in ways that are not as they say. */
const ENCODINGS: readonly ((bytes: Buffer) => readonly [Buffer, isPacked: boolean])[] = [
  (bytes) => [Buffer.from(bytes.toString(), 'utf16le'), false],
  (bytes) => [bytes.fill(0xed, bytes.length >> 1), false],
  (bytes) => [bytes.fill(0, bytes.length >> 1), false],
  (bytes) => [bytes.subarray(0, bytes.length >> 1), false],
  (bytes) => [Buffer.concat([bytes, Buffer.alloc(300_000, 0x20)]), false],
  (bytes) => [gzipSync(bytes), true],
  (bytes) => [gzipSync(bytes).subarray(0, 15), true],
  () => [BOMB, true],
];

/** The first, but so many times in a hundred the second. */
function mostly<T>(usual: Arbitrary<T>, percent: number, seldom: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight: 100 - percent, arbitrary: usual }, { weight: percent, arbitrary: seldom });
}

/** Percent-encoded; half a surrogate pair, which has no encoding, as the bytes that some would send for it. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

function resolved(schema: JsonSchema): JsonSchema {
  return wholeSchema(DOCUMENT, schema);
}

function objectOf(fields: readonly Field[]): string {
  return `{${fields.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`;
}

/** Requests to every operation of the document, right and wrong in every part. */
export function hostileRequests(callers: readonly HostileCaller[]): Arbitrary<HostileRequest> {
  const operations = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
    Object.entries(item as unknown as Record<string, Operation>).map(([method, operation]) => ({
      ...operation,
      ...{ path, method: method.toUpperCase(), weight: SLOW.includes(operation.operationId) ? 2 : 5 },
    })),
  );
  return fc.oneof(
    ...callers.flatMap((caller) =>
      operations.map(({ path, method, weight, ...operation }) => {
        const parts = fc.record({
          caller: fc.constant(caller.name),
          method: mostly(fc.constant(method), 3, fc.constantFrom(...odd.ODD_METHODS)),
          target: mostly(addresses(path, operation, caller), 4, fc.constantFrom(...odd.ODD_TARGETS)),
          token: mostly(fc.constant(caller.authorization), 4, fc.constantFrom(...odd.ODD_TOKENS)),
          header: mostly(fc.constant(null), 15, fc.constantFrom(...odd.ODD_HEADERS)),
          sent: bodies(operation, caller),
        });
        const arbitrary = parts.map(({ token, header, sent, ...rest }) => {
          const headers = { ...sent.headers, ...(header && Object.fromEntries([header])) };
          return {
            ...rest,
            ...sent,
            headers: token === null ? headers : { authorization: token, ...headers },
          };
        });
        return { weight, arbitrary };
      }),
    ),
  );
}

/** The addresses of an operation, with right and wrong ids and parameters. */
function addresses(path: string, operation: object, caller: HostileCaller): Arbitrary<string> {
  const parameters = parametersOf<Parameter>(DOCUMENT, operation);
  const kind = /(?:user|key|tenant|quota|entitlement)-api/.exec(path)?.[0] ?? 'dept-api';
  const pieces = path.split(/\{(\w+)\}/).map((piece, index) => {
    if (index % 2 === 0) return fc.constant(piece);
    const ids = idsInPath(caller.idsFor(kind)!);
    const { example } = parameters.find(({ name }) => name === piece)?.schema ?? {};
    return piece === 'id' ? ids : mostly(fc.constant(String(example)), 20, ids);
  });
  const query = parameters.filter((each) => each.in === 'query').map((each) => inQuery(each, caller));
  const extra = mostly(fc.constant(''), 3, fc.constantFrom(...odd.ODD_QUERIES, MANY_PARAMETERS));
  const parts = [...query.map((part) => mostly(fc.constant(''), 30, part)), extra];
  const queries = fc.tuple(...parts).map((said) => said.filter((part) => part !== '').join('&'));
  return fc
    .tuple(fc.tuple(...pieces), queries)
    .map(([place, said]) => place.join('') + (said === '' ? '' : `?${said}`));
}

function idsInPath(ids: Arbitrary<string>): Arbitrary<string> {
  const several = fc.array(ids, { minLength: 1, maxLength: 4 }).map(String);
  const nasty = nastyText.map((text) => escaped(text).slice(0, 9000) || '%20');
  const strange = fc.constantFrom(...odd.ODD_IDS, ...MANY_IDS);
  return mostly(mostly(ids, 15, several), 40, mostly(nasty, 30, strange));
}

function inQuery({ name, schema }: Parameter, caller: HostileCaller): Arbitrary<string> {
  const right = (caller.idsFor(name) ?? texts(resolved(schema))).map((text) => `${name}=${escaped(text)}`);
  const tails = ['[x]=1', '[__proto__][polluted]=1', '', '=', '=%', '=%E0%A4', '=%00', '==1', `=1&${name}=2`];
  const wrong = fc.constantFrom(...tails.map((tail) => name + tail), `%${name}=1`, `${name}[]=1`);
  const nasty = nastyText.map((text) => `${name}=${escaped(text)}`);
  return mostly(right, 50, mostly(nasty, 40, wrong));
}

/** Values that a schema of no object takes, as texts. */
function texts({ type, example = 'x', ...schema }: JsonSchema): Arbitrary<string> {
  const { minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER, maxLength = 20, format } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String));
  if (type === 'boolean') return fc.boolean().map(String);
  if (type === 'integer' || type === 'number') return fc.integer({ min, max }).map(String);
  const given = fc.constant(String(example));
  return format === undefined ? mostly(given, 50, fc.string({ maxLength, unit: 'grapheme' })) : given;
}

function jsonOf(key: string, schema: JsonSchema, caller: HostileCaller): Arbitrary<string> {
  if (schema.properties) return fieldsOf(schema, caller).map(objectOf);
  if (schema.type === 'array') {
    const items = jsonOf(key.replace(/s$/, ''), resolved(schema.items ?? {}), caller);
    return fc.array(items, { maxLength: 3 }).map((list) => `[${list.join()}]`);
  }
  const usernames = key === 'username' ? fc.nat(1_000_000).map((number) => `user-${number}`) : null;
  const right = caller.idsFor(key) ?? usernames ?? texts(schema);
  return schema.type === 'string' ? right.map((text) => JSON.stringify(text)) : right;
}

/** The fields of an object as its schema wants them; those that may be left out are now and then. */
function fieldsOf({ properties = {}, required = [] }: JsonSchema, caller: HostileCaller): Arbitrary<Field[]> {
  const fields = Object.entries(properties).map(([key, schema]): Arbitrary<Field[]> => {
    const field = jsonOf(key, resolved(schema), caller).map((json): Field[] => [[key, json]]);
    return mostly(field, required.includes(key) ? 0 : 40, fc.constant([]));
  });
  return fc.tuple(...fields).map((each) => each.flat());
}

/** Bodies for an operation: right, or wrong in one or two ways, or no JSON at all; seldom one where none is wanted. */
function bodies({ requestBody }: Pick<Operation, 'requestBody'>, caller: HostileCaller): Arbitrary<Sent> {
  const content = requestBody?.content ?? { 'application/json': { schema: {} } };
  const all = Object.entries(content).map(([type, { schema, example }]) => {
    const written = typeof example === 'string' ? files(example) : jsonOrForm(type, resolved(schema), caller);
    const types = mostly(fc.constant(type), 6, fc.constantFrom(...odd.ODD_TYPES));
    const encodings = mostly(fc.constant(null), 10, fc.constantFrom(...ENCODINGS));
    return fc.tuple(written, types, encodings).map(([text, contentType, encode]): Sent => {
      const bytes = Buffer.from(text);
      const [body, isPacked] = encode?.(bytes) ?? [bytes, false];
      const encoding = isPacked && { 'content-encoding': 'gzip' };
      // Node's client would send a body with GET or HEAD without saying how long it is.
      const length = { 'content-length': String(body.length) };
      return { headers: { 'content-type': contentType, ...encoding, ...length }, body };
    });
  });
  return mostly(fc.constant({ headers: {}, body: null }), requestBody ? 100 : 2, fc.oneof(...all));
}

function jsonOrForm(type: string, schema: JsonSchema, caller: HostileCaller): Arbitrary<string> {
  const keys = fc.constantFrom(...Object.keys(schema.properties ?? {}), ...odd.ODD_KEYS);
  // Of two fields of one name the second counts.
  const wrong = fc.array(fc.tuple(keys, nastyJson), { maxLength: 2 });
  const fields = fc.tuple(fieldsOf(schema, caller), wrong).map((both) => both.flat());
  if (type !== 'application/x-www-form-urlencoded') return mostly(fields.map(objectOf), 4, nastyJson);
  const pair = ([key, json]: Field): [string, string] => [key, json.replace(/^"|"$/g, '')];
  return fields.map((each) => new URLSearchParams(each.map(pair)).toString());
}

function files(example: string): Arbitrary<string> {
  const places = fc.tuple(fc.nat(example.length), nastyText);
  return mostly(
    places.map(([at, text]) => example.slice(0, at) + text + example.slice(at)),
    20,
    nastyText,
  );
}
