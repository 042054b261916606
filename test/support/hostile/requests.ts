import { gzipSync } from 'node:zlib';
import { Chance } from '../chance';
import { parametersOf, readDocument } from '../conformance';
import * as odd from './values';
import { nastyJson, nastyText, quoted } from './values';
import type { HostileCaller } from './world';

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: string }>>;
  };
}
interface Target {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly bodies: readonly {
    readonly type: string;
    readonly schema: JsonSchema;
    readonly example?: string;
  }[];
}
type Headers = Record<string, string | string[]>;
type Field = readonly [key: string, json: string];

export interface HostileRequest {
  readonly number: number;
  readonly caller: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Buffer | null;
}

const DOCUMENT = readDocument();
const SCHEMAS = DOCUMENT.components.schemas as Readonly<Record<string, JsonSchema>>;
/** Those that check or make a password take a hundred times what others do: they come less often. */
const SLOW = ['login', 'token', 'createUser', 'changePassword'];
const TARGETS = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item as unknown as Record<string, Operation>).flatMap(([method, operation]) => {
    const { operationId, requestBody } = operation;
    const parameters = parametersOf<Parameter>(DOCUMENT, operation);
    const bodies = Object.entries(requestBody?.content ?? {}).map(([type, body]) => ({ type, ...body }));
    const target: Target = { method: method.toUpperCase(), path, parameters, bodies };
    return Array<Target>(SLOW.includes(operationId) ? 2 : 5).fill(target);
  }),
);

/** The request of this number in the run of this seed; the others need not be made for it. */
export function hostileRequest(
  seed: number,
  number: number,
  callers: readonly HostileCaller[],
): HostileRequest {
  const chance = new Chance(`${seed}/${number}`);
  const caller = chance.pick(callers);
  const target = chance.pick(TARGETS);
  const withBody = target.bodies.length > 0 || chance.hit(0.02);
  const sent = withBody ? bodyFor(target, caller, chance) : null;
  const authorization = chance.hit(0.04) ? chance.pick(odd.ODD_TOKENS) : caller.authorization;
  return {
    number,
    caller: caller.name,
    method: chance.hit(0.03) ? chance.pick(odd.ODD_METHODS) : target.method,
    target: addressOf(target, caller, chance),
    headers: {
      ...(authorization !== null && { authorization }),
      ...sent?.headers,
      // Node's client would send a body with GET or HEAD without saying how long it is.
      ...(sent && { 'content-length': String(sent.body.length) }),
      ...(chance.hit(0.15) && Object.fromEntries([chance.pick(odd.ODD_HEADERS)])),
    },
    body: sent?.body ?? null,
  };
}

/** The address of an operation, with right and wrong ids and parameters; or one that leads nowhere. */
function addressOf({ path, parameters }: Target, caller: HostileCaller, chance: Chance): string {
  if (chance.hit(0.04)) return chance.pick(odd.ODD_TARGETS);
  const kind = /(?:user|tenant|quota|entitlement)-api/.exec(path)?.[0].split('-')[0] ?? 'dept';
  const filled = path
    .replace('{id}', () => idInPath(kind, caller, chance))
    .replace(/\{(kind|key)\}/g, (place) => {
      const { example } = parameters.find(({ name }) => `{${name}}` === place)!.schema;
      return chance.hit(0.8) ? String(example) : idInPath(kind, caller, chance);
    });
  const query = parameters.filter((each) => each.in === 'query' && chance.hit(0.3));
  const parts = query.flatMap((each) => partsOf(each, caller, chance));
  if (chance.hit(0.03)) parts.push(chance.pick(odd.ODD_QUERIES));
  if (chance.hit(0.003)) parts.push(...Array.from({ length: 1500 }, (_, index) => `p${index}=1`));
  return parts.length > 0 ? `${filled}?${chance.shuffled(parts).join('&')}` : filled;
}

function idInPath(kind: string, caller: HostileCaller, chance: Chance): string {
  const id = () => String(caller.idFor(kind, chance));
  const draw = chance.next();
  if (draw < 0.5) return id();
  if (draw < 0.6) return Array.from({ length: 1 + chance.below(4) }, id).join();
  if (draw < 0.63) return Array.from({ length: chance.pick([500, 501, 10_000]) }, (_, at) => at + 1).join();
  return draw < 0.9 ? escaped(nastyText(chance)).slice(0, 9000) || '%20' : chance.pick(odd.ODD_IDS);
}

function partsOf({ name, schema }: Parameter, caller: HostileCaller, chance: Chance): string[] {
  const examples: Record<string, string> = { boolean: 'true', integer: '50' };
  const known = caller.idFor(name, chance) ?? (schema.enum?.[0] as string | undefined);
  const right = String(known ?? examples[schema.type ?? ''] ?? '1');
  const draw = chance.next();
  if (draw < 0.45) return [`${name}=${right}`];
  if (draw < 0.75) return [`${name}=${escaped(nastyText(chance))}`];
  return chance.pick([
    [`${name}=${right}`, `${name}=${right}`],
    ...[`[]=${right}`, `[x]=${right}`, '[__proto__][polluted]=1', '', '=', '=%', '=%E0%A4', '=%00'].map(
      (rest) => [name + rest],
    ),
    [`%${name}=1`],
    [`${name}=${right}%2C${right}`],
    [`${encodeURIComponent(name)}==${right}`],
  ]);
}

/** Percent-encoded; half a surrogate pair, which has no encoding, as the bytes that some would send for it. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

/** A body for an operation: right, or wrong in one to three ways, or no JSON at all. */
function bodyFor(target: Target, caller: HostileCaller, chance: Chance): { headers: Headers; body: Buffer } {
  const { bodies } = target.bodies.length > 0 ? target : TARGETS.find((each) => each.bodies.length > 0)!;
  const { type, schema, example } = chance.pick(bodies);
  const text = example === undefined ? jsonOrForm(type, schema, caller, chance) : file(example, chance);
  const [body, encoding] = encoded(Buffer.from(text), chance);
  const contentType = chance.hit(0.06) ? chance.pick(odd.ODD_TYPES) : type;
  return { headers: { 'content-type': contentType, ...encoding }, body };
}

function jsonOrForm(type: string, schema: JsonSchema, caller: HostileCaller, chance: Chance): string {
  if (chance.hit(0.04)) return nastyJson(chance);
  const fields = mutated(fieldsOf(resolved(schema), caller, chance), caller, chance);
  if (type !== 'application/x-www-form-urlencoded') return objectOf(fields);
  const pairs = fields.map(([key, json]): [string, string] => [key, json.replace(/^"|"$/g, '')]);
  return new URLSearchParams(pairs).toString();
}

function resolved(schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : SCHEMAS[schema.$ref.split('/').at(-1)!]!;
}

function objectOf(fields: readonly Field[]): string {
  return `{${fields.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`;
}

function fieldsOf(
  { properties = {}, required = [] }: JsonSchema,
  caller: HostileCaller,
  chance: Chance,
): Field[] {
  const kept = Object.entries(properties).filter(([key]) => required.includes(key) || !chance.hit(0.4));
  return kept.map(([key, schema]) => [key, rightJson(key, resolved(schema), caller, chance)]);
}

function rightJson(key: string, schema: JsonSchema, caller: HostileCaller, chance: Chance): string {
  const id = caller.idFor(key, chance);
  if (id !== null) return schema.type === 'string' ? JSON.stringify(String(id)) : String(id);
  if (schema.properties) return objectOf(fieldsOf(schema, caller, chance));
  if (schema.type === 'array') {
    const item = () => rightJson(key.replace(/s$/, ''), schema.items ?? {}, caller, chance);
    return `[${Array.from({ length: chance.below(4) }, item).join()}]`;
  }
  if (schema.enum && chance.hit(0.5)) return JSON.stringify(chance.pick(schema.enum));
  return JSON.stringify(key === 'username' ? `user-${chance.below(1e6)}` : (schema.example ?? null));
}

function mutated(fields: readonly Field[], caller: HostileCaller, chance: Chance): Field[] {
  const copy = [...fields];
  for (let left = chance.pick([0, 0, 1, 1, 2, 3]); left > 0; left -= 1) {
    const at = chance.below(copy.length);
    const [key = 'x', json = '1'] = copy[at] ?? [];
    const draw = chance.next();
    if (draw < 0.6) copy[at] = [key, nastyJson(chance)];
    else if (draw < 0.68) copy.push([key, nastyJson(chance)]);
    else if (draw < 0.76) copy.push([chance.pick(odd.ODD_KEYS), nastyJson(chance)]);
    else if (draw < 0.82) copy[at] = [key, `[${json}]`];
    else if (draw < 0.88) copy[at] = [key, json.startsWith('"') ? json.slice(1, -1) : quoted(json, chance)];
    else if (draw < 0.94) copy.splice(at, 1);
    else copy[at] = [key, String(caller.idFor('deptId', chance))];
  }
  return copy;
}

function file(example: string, chance: Chance): string {
  const at = chance.below(example.length);
  return chance.hit(0.2) ? nastyText(chance) : example.slice(0, at) + nastyText(chance) + example.slice(at);
}

const BOMB = gzipSync(Buffer.alloc(24_000_000, 0x20));

function encoded(bytes: Buffer, chance: Chance): [Buffer, Headers] {
  if (chance.hit(0.9)) return [bytes, {}];
  const half = Math.floor(bytes.length / 2);
  const inside = (...odds: number[]) =>
    Buffer.concat([bytes.subarray(0, half), Buffer.from(odds), bytes.subarray(half)]);
  return chance.pick<() => [Buffer, Headers]>([
    () => [Buffer.from(bytes.toString(), 'utf16le'), {}],
    () => [inside(0xed, 0xa0, 0x80), {}],
    () => [inside(0), {}],
    () => [bytes.subarray(0, half), {}],
    () => [gzipSync(bytes), { 'content-encoding': 'gzip' }],
    () => [gzipSync(bytes).subarray(0, 15), { 'content-encoding': 'gzip' }],
    () => [BOMB, { 'content-encoding': 'gzip' }],
    () => [Buffer.concat([bytes, Buffer.alloc(300_000, 0x20)]), {}],
  ])();
}
