import type { ApiPropertyOptions } from '@nestjs/swagger';
import { CHANGE_KINDS } from '../journal/change-log';
import { ROLES } from '../tenancy/roles';
import { DECORATORS } from './schema-names';

/**
 * What documents say of a field that is read, where its type in TypeScript does not say it all. Not `@ApiProperty`: that
 * would put the field before all others, and the CLI plugin lists them in their order.
 */
export function described(schema: ApiPropertyOptions): () => PropertyDecorator {
  return () => (target, key) => {
    Reflect.defineMetadata(DECORATORS.API_MODEL_PROPERTIES, schema, target, key);
  };
}

/** Ids of departments and accounts, or of tenants. */
export const ANY_ID = { oneOf: [{ type: 'integer', format: 'int64' }, { type: 'string' }] };
export const AnyId = described(ANY_ID);
export const AnyIds = described({ type: 'array', items: ANY_ID });

/** What a field of a department may hold. */
export const AnyValue = described({
  oneOf: [
    { type: 'string', nullable: true },
    { type: 'integer', format: 'int64' },
  ],
});

/** Fields of a resource by their names. */
export const ChangedFieldsView = described({ type: 'object', additionalProperties: true });

export const Int32 = described({ type: 'integer', format: 'int32' });
/** A whole number of up to 2^53-1, such as an id. */
export const Int64 = described({ type: 'integer', format: 'int64' });

/** `YYYY-MM-DD` */
export const DayText = described({ type: 'string', format: 'date' });
/** `YYYY-MM-DD HH:MM:SS` in the service's time zone. */
export const TimeText = described({
  type: 'string',
  pattern: String.raw`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`,
});

/** Names of roles. */
export const RoleList = described({ type: 'array', items: { type: 'string', enum: [...ROLES] } });

/** Kinds of resources. */
export const Kinds = described({ type: 'array', items: { type: 'string', enum: [...CHANGE_KINDS] } });

/** A list of whole numbers. */
export const Numbers = described({ type: 'array', items: { type: 'integer', format: 'int64' } });

/** One of a few texts. */
export function Choice(...choices: string[]): PropertyDecorator {
  return described({ type: 'string', enum: choices })();
}
