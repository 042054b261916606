import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Chance } from '../chance';
import { nastyJson, nastyText, quoted } from './nasty-values';
import { resolved, type HostileTarget, type JsonSchema } from './operations';
import type { HostileCaller } from './world';

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Field = readonly [key: string, json: string];

const ODD_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'x',
  '',
  '\0',
  'deptId ',
  'DEPTID',
  'a.b',
];
const TYPES = [
  ...[
    '',
    'application/json; charset=gbk',
    'application/json;charset=utf-16',
    'application/json; charset="utf-7"',
  ],
  ...[
    'application/json; charset=',
    'application/json;charset=UTF-8',
    'application/json; charset=utf8',
    'text/json',
  ],
  ...['application/merge-patch+json', 'application/json-patch+json', 'text/plain', 'multipart/form-data'],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/xml',
    '*/*',
    'a/b/c',
    ';',
  ],
  ...['application/json, text/plain', 'APPLICATION/JSON', 'application/json; q=1; charset=utf-8', 'text/csv'],
  ...['application/x-ndjson', 'text/csv; charset=gbk', 'application/octet-stream', 'application/json\t', '"'],
];
const MULTIPART = '--x\r\nContent-Disposition: form-data; name="deptName"\r\n\r\na\r\n--x--\r\n';

/** A body for an operation: right, or wrong in one to three ways, or no JSON at all. */
export function hostileBody(target: HostileTarget, caller: HostileCaller, chance: Chance): Sent {
  const { type, schema, example } = chance.pick(target.bodies);
  const text = example === undefined ? jsonOrForm(type, schema, caller, chance) : file(type, example, chance);
  const [bytes, encoding] = encoded(Buffer.from(text), chance);
  const contentType = chance.hit(0.06) ? chance.pick(TYPES) : type;
  return { headers: { 'content-type': contentType, ...encoding }, body: bytes };
}

function jsonOrForm(type: string, schema: JsonSchema, caller: HostileCaller, chance: Chance): string {
  const kind = chance.next();
  if (kind < 0.03) return nastyJson(chance);
  if (kind < 0.04) return MULTIPART;
  const fields = mutated(fieldsOf(resolved(schema), caller, chance), caller, chance);
  if (type !== 'application/x-www-form-urlencoded') return objectOf(fields);
  return fields.map(([key, json]) => `${formPart(key)}=${formPart(json.replace(/^"|"$/g, ''))}`).join('&');
}

function formPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function objectOf(fields: readonly Field[]): string {
  return `{${fields.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`;
}

/** Each field as its example says, or left out. */
function fieldsOf(
  { properties = {}, required = [] }: JsonSchema,
  caller: HostileCaller,
  chance: Chance,
): Field[] {
  return Object.entries(properties).flatMap(([key, schema]): Field[] => {
    if (!required.includes(key) && chance.hit(0.4)) return [];
    return [[key, rightJson(key, resolved(schema), caller, chance)]];
  });
}

function rightJson(key: string, schema: JsonSchema, caller: HostileCaller, chance: Chance): string {
  const id = caller.idFor(key, chance);
  if (id !== null) return schema.type === 'string' ? JSON.stringify(String(id)) : String(id);
  if (schema.properties) return objectOf(fieldsOf(schema, caller, chance));
  if (schema.type === 'array') {
    const items = Array.from({ length: chance.below(4) }, () =>
      rightJson(key.replace(/s$/, ''), schema.items ?? {}, caller, chance),
    );
    return `[${items.join()}]`;
  }
  if (schema.enum && chance.hit(0.5)) return JSON.stringify(chance.pick(schema.enum));
  if (key === 'username') return JSON.stringify(`user-${chance.below(1e6)}`);
  return JSON.stringify(schema.example ?? null);
}

function mutated(fields: readonly Field[], caller: HostileCaller, chance: Chance): Field[] {
  const copy = [...fields];
  for (let left = chance.pick([0, 0, 1, 1, 2, 3]); left > 0; left -= 1) {
    const at = chance.below(copy.length);
    const [key = 'x', json = '1'] = copy[at] ?? [];
    const kind = chance.next();
    if (kind < 0.6) copy[at] = [key, nastyJson(chance)];
    else if (kind < 0.68) copy.push([key, nastyJson(chance)]);
    else if (kind < 0.76) copy.push([chance.pick(ODD_KEYS), nastyJson(chance)]);
    else if (kind < 0.82) copy[at] = [key, `[${json}]`];
    else if (kind < 0.88) copy[at] = [key, json.startsWith('"') ? json.slice(1, -1) : quoted(json, chance)];
    else if (kind < 0.94) copy.splice(at, 1);
    else copy[at] = [key, String(caller.idFor('deptId', chance))];
  }
  return copy;
}

const COLUMNS = ['path', 'orderNum', 'leader', 'phone', 'email', 'status'];

/** Lines of an import, with garbage in some of their places. */
function file(type: string, example: string, chance: Chance): string {
  if (chance.hit(0.15)) return nastyText(chance);
  if (chance.hit(0.15)) return broken(example, chance);
  const lines = Array.from({ length: chance.below(chance.hit(0.02) ? 400 : 5) }, () =>
    COLUMNS.map((column) => [column, column === 'path' ? path(chance) : cell(column, chance)] as const),
  );
  if (type !== 'text/csv') return lines.map((line) => objectOf(line)).join('\n');
  const csv = lines.map((line) => line.map(([, json]) => json.replaceAll('\\"', '""')).join());
  return [COLUMNS.join(), ...csv].join(chance.pick(['\r\n', '\n', '\r', '\n\n']));
}

function path(chance: Chance): string {
  const parts = Array.from({ length: 1 + chance.below(3) }, () =>
    chance.pick(['a', 'b', 'c#2', nastyText(chance)]),
  );
  return JSON.stringify(chance.hit(0.9) ? parts.join('/').slice(0, 2000) : '/'.repeat(chance.below(80)));
}

function cell(column: string, chance: Chance): string {
  if (chance.hit(0.15)) return nastyJson(chance);
  return { orderNum: '1', status: '"0"', email: '"a@example.com"' }[column] ?? '"x"';
}

/** Cut off, or with bytes in it that nobody put there. */
function broken(text: string, chance: Chance): string {
  const at = chance.below(text.length);
  return text.slice(0, at) + (chance.hit(0.5) ? '' : nastyText(chance) + text.slice(at));
}

const BOMB = gzipSync(Buffer.alloc(24_000_000, 0x20));
const SURROGATE = Buffer.from([0xed, 0xa0, 0x80]);
const OVERLONG = Buffer.from([0xc0, 0xaf]);

/** As UTF-8 nearly always; the headers say what was done, or something else. */
function encoded(bytes: Buffer, chance: Chance): [Buffer, Record<string, string>] {
  const kind = chance.next();
  if (kind < 0.88) return [bytes, {}];
  const half = Math.floor(bytes.length / 2);
  const inside = (odd: Buffer) => Buffer.concat([bytes.subarray(0, half), odd, bytes.subarray(half)]);
  return chance.pick<() => [Buffer, Record<string, string>]>([
    () => [Buffer.from(bytes.toString(), 'utf16le'), {}],
    () => [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]), {}],
    () => [Buffer.from(bytes.toString(), 'latin1'), {}],
    () => [inside(SURROGATE), {}],
    () => [inside(OVERLONG), {}],
    () => [inside(Buffer.from([0])), {}],
    () => [bytes.subarray(0, half), {}],
    () => [Buffer.concat([bytes, Buffer.from(chance.pick(['x', '{}', '\0', ' \n']))]), {}],
    () => [gzipSync(bytes), { 'content-encoding': 'gzip' }],
    () => [deflateSync(bytes), { 'content-encoding': 'deflate' }],
    () => [brotliCompressSync(bytes), { 'content-encoding': 'br' }],
    () => [gzipSync(bytes).subarray(0, 15), { 'content-encoding': 'gzip' }],
    () => [gzipSync(gzipSync(bytes)), { 'content-encoding': 'gzip, gzip' }],
    () => [
      bytes,
      { 'content-encoding': chance.pick(['gzip', 'deflate', 'br', 'zstd', 'identity', 'x', '']) },
    ],
    () => [BOMB, { 'content-encoding': 'gzip' }],
    () => [Buffer.concat([bytes, Buffer.alloc(300_000, 0x20)]), {}],
    () => [Buffer.alloc(0), {}],
  ])();
}
