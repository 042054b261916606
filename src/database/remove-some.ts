import {
  In,
  type EntityManager,
  type EntityTarget,
  type FindOptionsSelect,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';

/** So few that nobody waits for long for the rows, and that the statement is over long before its connection is cut. */
const ROWS = 500;

/** Removes at most 500 of the rows that match, by their primary keys; gives how many it were. */
export async function removeSome<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  key: keyof E & string,
  where: FindOptionsWhere<E>,
): Promise<number> {
  const select = { [key]: true } as FindOptionsSelect<E>;
  const found = await manager.find(entity, { select, where, take: ROWS });
  if (found.length === 0) return 0;
  // The condition again: a row may have been renewed since.
  const those = { ...where, [key]: In(found.map((row) => row[key] as unknown)) };
  const { affected } = await manager.delete(entity, those);
  return affected ?? 0;
}
