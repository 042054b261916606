import { defineErrors } from '../errors/refusal';
import { MAX_DEPTH } from '../database/tree-path';

/** How many departments are deleted with one above them, itself included. */
export const MAX_SUBTREE = 10_000;

export const DeptErrors = defineErrors({
  NOT_FOUND: {
    reason: 'DEPT_NOT_FOUND',
    status: 404,
    zh: '部门不存在',
    en: 'There is no such department',
  },
  PARENT_NOT_FOUND: {
    reason: 'PARENT_NOT_FOUND',
    status: 404,
    zh: '上级部门不存在',
    en: 'There is no such parent department',
  },
  PARENT_DISABLED: {
    reason: 'PARENT_DISABLED',
    status: 409,
    zh: '上级部门已停用',
    en: 'The parent department is disabled',
  },
  PARENT_GONE: {
    reason: 'PARENT_NOT_FOUND',
    status: 409,
    ids: [1],
    zh: '上级部门不存在或已删除，请先恢复上级部门，或指定其他上级部门',
    en: 'There is no such parent department, or it is deleted: restore it first, or name another parent',
  },
  CYCLE: {
    reason: 'DEPT_CYCLE',
    status: 409,
    zh: '上级部门不能是该部门自身或其下级部门',
    en: 'A department cannot be moved below itself or one of its descendants',
  },
  HAS_CHILDREN: {
    reason: 'DEPT_HAS_CHILDREN',
    status: 409,
    ids: [1],
    zh: '存在下级部门，不允许删除',
    en: 'The department has child departments',
  },
  HAS_USERS: {
    reason: 'DEPT_HAS_USERS',
    status: 409,
    ids: [1],
    zh: '部门下存在用户，不允许删除',
    en: 'The department has users',
  },
  SUBTREE_TOO_LARGE: {
    reason: 'DEPT_SUBTREE_TOO_LARGE',
    status: 409,
    zh: `一次最多删除 ${MAX_SUBTREE} 个部门，请先删除部分下级部门`,
    en: `At most ${MAX_SUBTREE} departments can be deleted at once: delete some of those below it first`,
  },
  NOT_A_CHILD: {
    reason: 'DEPT_NOT_A_CHILD',
    status: 409,
    ids: [1],
    zh: '部门不属于该上级部门',
    en: 'The department has a different parent',
  },
  TOO_DEEP: {
    reason: 'DEPT_TOO_DEEP',
    status: 400,
    field: 'parentId',
    zh: `部门层级不能超过 ${MAX_DEPTH} 级`,
    en: `The department tree can be at most ${MAX_DEPTH} levels deep`,
  },
});

export const TransferErrors = defineErrors({
  TOO_MANY_IMPORTS: {
    reason: 'TOO_MANY_IMPORTS',
    status: 429,
    zh: '正在进行的导入过多，请稍后重试',
    en: 'Too many imports are running (one at a time per tenant); try again after the time in Retry-After',
    retryAfter: 5,
  },
  TOO_MANY_EXPORTS: {
    reason: 'TOO_MANY_EXPORTS',
    status: 429,
    zh: '正在进行的导出过多，请稍后重试',
    en: 'Too many exports are running (one at a time per tenant); try again after the time in Retry-After',
    retryAfter: 5,
  },
});
