import type { Type } from '@nestjs/common';
import { ApiProperty, ApiSchema, type ApiPropertyOptions } from '@nestjs/swagger';
import { SUCCESS_CODE, SUCCESS_MESSAGE } from './envelope';

/** What `data` of a successful answer holds; null when nothing is named. */
export interface AnswerType {
  readonly data?: Type;
  /** What `data` is a page of. */
  readonly page?: Type;
  /** What `data` is a list of. */
  readonly list?: Type;
}

const made = new Map<string, Type>();

/** The envelope of an answer as a class, so that documents and generated clients have a name for it. */
export function envelopeOf({ data, page, list }: AnswerType): Type {
  if (data) return envelope(stem(data), { type: data });
  if (list) return envelope(`${stem(list)}List`, { type: list, isArray: true });
  if (page) return envelope(`${stem(page)}Page`, { type: pageOf(page) });
  // The type is of no matter, but there must be one beside `nullable`.
  return envelope('Done', { type: 'string', nullable: true, enum: [null] });
}

function envelope(name: string, data: ApiPropertyOptions): Type {
  return schemaClass(`${name}Envelope`, {
    code: { type: 'integer', format: 'int32', enum: [SUCCESS_CODE] },
    msg: { type: 'string', enum: [SUCCESS_MESSAGE] },
    data,
  });
}

function pageOf(row: Type): Type {
  return schemaClass(`${stem(row)}Page`, {
    rows: { type: row, isArray: true },
    nextCursor: {
      type: 'string',
      nullable: true,
      description: 'Send it as `cursor` to read the next page; null on the last page.',
    },
    hasMore: { type: 'boolean' },
  });
}

function stem({ name }: Type): string {
  return name.replace(/Dto$/, '');
}

/** A class that is only a schema, made once. */
function schemaClass(name: string, properties: Record<string, ApiPropertyOptions>): Type {
  const known = made.get(name);
  if (known) return known;
  @ApiSchema({ name })
  class Schema {}
  for (const [key, options] of Object.entries(properties)) {
    ApiProperty(options)(Schema.prototype, key);
  }
  made.set(name, Schema);
  return Schema;
}
