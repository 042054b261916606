import type { ExecutionContext, Type } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { HttpArgumentsHost } from '@nestjs/common/interfaces';
import type { Express, Request, Response } from 'express';
import { HttpErrors } from '../errors/http.errors';
import type { Bilingual, FieldProblem } from '../errors/refusal';
import { fieldsOf } from './checked-as';
import { inputType } from './input';
import { AllowRoles } from './roles.guard';

/**
 * Names of fields and parameters that an operation does not know, such as typos. They are ignored, and a header of the answer tells
 * which; with `Prefer: handling=strict` (RFC 7240), or where that is the default, they are refused.
 */

const STRICT = 'tenantry strict input';
const IGNORED = 'X-Ignored-Fields';
/** So many are told, in a header of at most so many characters: proxies refuse long ones. */
const MOST_NAMES = 20;
const MOST_CHARACTERS = 1000;
const LONGEST_NAME = 64;
/** The first counts, as RFC 7240 wants it. */
const HANDLING = /(?:^|,)\s*handling\s*=\s*"?(strict|lenient)\b/i;

/** What counts for callers who prefer nothing; it is a setting of the Express application. */
export function setStrictInput({ httpAdapter }: Partial<HttpAdapterHost>, isStrict: boolean): void {
  httpAdapter?.getInstance<Partial<Express>>().set?.(STRICT, isStrict);
}

const READ_ONLY = Symbol('readOnlyFields');

/** On the class of a body: fields that only the service writes. What was read can be sent back with them; they are ignored. */
export function ReadOnlyFields(names: readonly string[]): ClassDecorator {
  return Reflect.metadata(READ_ONLY, new Set(names));
}

/** Refuses names that the operation does not know, or tells that they are ignored. */
export function checkNames(context: ExecutionContext): void {
  // Of the service's own pages nothing is described.
  if (Reflect.getMetadata(AllowRoles.KEY, context.getHandler()) === undefined) return;
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const preferred = handlingOf(request);
  if (preferred) http.getResponse<Response>().setHeader('Preference-Applied', `handling=${preferred}`);
  const problems: FieldProblem[] = [];
  let count = 0;
  for (const { name, known } of unknownNames(context, request)) {
    const message = noteUnknown(http, name, known);
    if (message) problems.push({ field: name.slice(0, 2 * LONGEST_NAME), message });
    count += 1;
    if (count === MOST_NAMES) break;
  }
  if (problems.length > 0) throw HttpErrors.INVALID({ fields: problems });
}

/** What is wrong with a name; null where such names are ignored, and a header of the answer has it now. */
export function noteUnknown(
  http: HttpArgumentsHost,
  name: string,
  known: Iterable<string>,
): Bilingual | null {
  const request = http.getRequest<Request>();
  const isStrict = (handlingOf(request) ?? (request.app.get(STRICT) === true ? 'strict' : '')) === 'strict';
  if (isStrict) return unknownText(name, known);
  const response = http.getResponse<Response>();
  const told = response.getHeader(IGNORED);
  const names = typeof told === 'string' ? told.split(', ') : [];
  const each = encodeURIComponent(name.slice(0, LONGEST_NAME).toWellFormed());
  const header = [...names, each].join(', ');
  if (!names.includes(each) && header.length <= MOST_CHARACTERS) response.setHeader(IGNORED, header);
  return null;
}

function handlingOf({ headers }: Request): string | undefined {
  return headers.prefer === undefined ? undefined : HANDLING.exec(String(headers.prefer))?.[1]?.toLowerCase();
}

interface Unknown {
  readonly name: string;
  readonly known: Iterable<string>;
}

function* unknownNames(context: ExecutionContext, request: Request): Generator<Unknown, void> {
  const [handlers, key] = [context.getClass().prototype as object, context.getHandler().name];
  if (request.url.includes('?')) yield* unknownIn(request.query, inputType('query', handlers, key));
  const bodyType = inputType('body', handlers, key);
  if (bodyType && isObject(request.body)) yield* unknownIn(request.body, bodyType);
}

function* unknownIn(sent: object, type: Type | undefined, path = ''): Generator<Unknown, void> {
  const fields = type ? fieldsOf(type) : new Map<string, undefined>();
  const readOnly = type && (Reflect.getMetadata(READ_ONLY, type) as ReadonlySet<string> | undefined);
  for (const [name, value] of Object.entries(sent) as [string, unknown][]) {
    const inner = fields.get(name);
    if (inner && isObject(value)) yield* unknownIn(value, inner, `${path}${name}.`);
    else if (!fields.has(name) && !readOnly?.has(name))
      yield { name: path + name, known: [...fields.keys()].map((field) => path + field) };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownText(name: string, known: Iterable<string>): Bilingual {
  const near = nearestOf(name, known);
  const [zh, en] = near === undefined ? ['', ''] : [`，是否为 ${near}？`, `; did you mean ${near}?`];
  return { zh: `未知的字段或参数${zh}`, en: `is not known here${en}` };
}

/** The known name that needs the fewest edits; undefined when all are too different. */
function nearestOf(name: string, known: Iterable<string>): string | undefined {
  const sent = name.slice(0, LONGEST_NAME).toLowerCase();
  let nearest: string | undefined;
  let fewest = Math.floor(sent.length / 3) + 1;
  for (const each of known) {
    const edits = editsBetween(sent, each.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [each, edits];
  }
  return nearest;
}

/** Levenshtein's distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const [same = 0, above = 0, before = 0] = [row[j], row[j + 1], next[j]];
      next.push(Math.min(same + (a[i] === b[j] ? 0 : 1), above + 1, before + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
