import type { DeptEntity } from './dept.entity';

/** The ids above a department, from the top down; only those below `top`, when there is one. Pure. */
export function ancestorIds(
  { ancestors }: Pick<DeptEntity, 'ancestors'>,
  top: DeptEntity | null = null,
): number[] {
  const ids = ancestors.split(',').slice(1).map(Number);
  return top ? ids.slice(top.depth) : ids;
}
