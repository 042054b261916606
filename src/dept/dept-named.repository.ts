import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { TenantBound } from '../tenancy/tenant-bound';
import { namedSiblings, type SiblingName } from './dept.conditions';
import type { DeptEntity } from './dept.entity';

/** So many at once a database still takes as so many looks into an index. */
const CHUNK = 100;

/** The departments with these parents and names, which must all differ. Others have their turns between. */
export async function findNamed(
  depts: TenantBound<DeptEntity>,
  names: readonly SiblingName[],
): Promise<DeptEntity[]> {
  const found: DeptEntity[] = [];
  for (let start = 0; start < names.length; start += CHUNK) {
    const chunk = names.slice(start, start + CHUNK);
    found.push(...(await depts.find(namedSiblings(chunk, depts.isOnSqlite))));
    await yieldToEventLoop();
  }
  return found;
}
