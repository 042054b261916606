import { FindOperator, type EntityMetadata } from 'typeorm';

/** Marks TypeORM's own objects, whichever copy of TypeORM has made them. */
const TYPEORM = '@instanceof';

/**
 * Refuses conditions that could reach out of the tenant or mean more rows than they say: SQL in any form, an empty
 * list, a value that is not there.
 */
export function refuseOddWhere(where: unknown): void {
  const alternatives: readonly unknown[] = Array.isArray(where) ? where : [where];
  if (alternatives.length === 0) throw new Error('A list of conditions needs at least one.');
  for (const each of alternatives) {
    if (!isPlain(each)) throw new Error('A condition is a plain object, or a list of such objects.');
    for (const [property, value] of Object.entries(each)) refuseOddValue(property, value);
  }
}

function refuseOddValue(property: string, value: unknown): void {
  if (value === undefined) throw new Error(`The condition on ${property} has no value.`);
  if (isPlain(value)) refuseOddWhere(value);
  else if (isOfTypeorm(value)) refuseOddOperator(property, value);
}

function refuseOddOperator(property: string, operator: unknown): void {
  if (!(operator instanceof FindOperator) || operator.type === 'raw') {
    throw new Error(`The condition on ${property} is not one of TypeORM's operators without SQL.`);
  }
  const inner: unknown = operator.child ?? operator.value;
  for (const each of Array.isArray(inner) ? (inner as unknown[]) : [inner]) {
    if (isOfTypeorm(each)) refuseOddOperator(property, each);
  }
}

/** Refuses an entity whose rows cannot be told apart by tenant. */
export function refuseUnowned(metadata: EntityMetadata): void {
  const column = metadata.findColumnWithPropertyName('tenantId');
  if (!column) throw new Error(`${metadata.name} has no column for tenantId, so no tenant can own its rows.`);
  if (metadata.columns.some((each) => each !== column && each.databaseName === column.databaseName)) {
    throw new Error(`${metadata.name} has more than one property for the column of tenantId.`);
  }
}

/** Refuses values that would write another tenant in spite of the stamp: a relation on its column, or SQL. */
export function refuseOddValues(metadata: EntityMetadata, values: object): void {
  const relation = metadata.findColumnWithPropertyName('tenantId')?.relationMetadata?.propertyName;
  if (relation !== undefined && relation in values) {
    throw new Error(`${relation} cannot be written: the tenant of a row follows from the context.`);
  }
  for (const column of metadata.columns) {
    if (typeof column.getEntityValue(values) === 'function') {
      throw new Error(`${column.propertyPath} must be a value, not SQL.`);
    }
  }
}

/** A plain object: neither of a class nor of TypeORM. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || isOfTypeorm(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isOfTypeorm(value: unknown): boolean {
  return typeof value === 'object' && value !== null && TYPEORM in value;
}
