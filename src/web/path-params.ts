import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { NUMERIC_ID } from './id-fields';
import { IdPipe, IdsPipe, MAX_IDS, TextIdPipe } from './ids.pipe';
import { ID_LIST, TEXT_ID } from './ids';
import { documented } from './documented';

type Schema = Extract<Parameters<typeof ApiParam>[0], { schema: unknown }>['schema'];

/**
 * The id in a path, read and documented in one. All are called `id`: in a document one path has one name for its places. What
 * TypeScript says of the parameter is what the pipe makes of it, so it is not what is sent.
 */
function pathParam(
  pipe: Parameters<typeof Param>[1],
  schema: Schema,
  description?: string,
): ParameterDecorator {
  const asSent = { type: String, isArray: false };
  const documentation = { name: 'id', schema, ...(description !== undefined && { description }), ...asSent };
  const describe = documented(ApiParam(documentation));
  return (target, key, index) => {
    Param('id', pipe)(target, key, index);
    describe(target, key, index);
  };
}

/** A numeric id. */
export function PathId(): ParameterDecorator {
  return pathParam(IdPipe, { ...NUMERIC_ID, example: 1 });
}

/** One numeric id or several. */
export function PathIds(example: string): ParameterDecorator {
  return pathParam(
    IdsPipe,
    { type: 'string', pattern: ID_LIST, example },
    `One id, or up to ${MAX_IDS} different ones separated by commas: all of them, or none.`,
  );
}

/** A tenant's internal id. */
export function PathTextId(): ParameterDecorator {
  return pathParam(
    TextIdPipe,
    { type: 'string', pattern: TEXT_ID, example: '1' },
    'The internal `id` of the tenant as the list shows it, not its code. The platform has `1`.',
  );
}
