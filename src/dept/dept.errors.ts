import { refusal } from '../errors/refusal';
import { MAX_DEPTH } from '../database/tree-path';

/** How many departments are deleted with one above them, itself included. */
export const MAX_SUBTREE = 10_000;

/** How many departments one drawing shows. */
export const MAX_BOXES = 1000;

export const DeptErrors = Object.freeze({
  NOT_FOUND: refusal(404, 'DEPT_NOT_FOUND').zh('部门不存在').en('There is no such department'),
  PARENT_NOT_FOUND: refusal(404, 'PARENT_NOT_FOUND')
    .zh('上级部门不存在')
    .en('There is no such parent department'),
  PARENT_DISABLED: refusal(409, 'PARENT_DISABLED')
    .zh('上级部门已停用')
    .en('The parent department is disabled'),
  PARENT_GONE: refusal(409, 'PARENT_NOT_FOUND', { ids: [1] })
    .zh('上级部门不存在或已删除，请先恢复上级部门，或指定其他上级部门')
    .en('There is no such parent department, or it is deleted: restore it first, or name another parent'),
  CYCLE: refusal(409, 'DEPT_CYCLE')
    .zh('上级部门不能是该部门自身或其下级部门')
    .en('A department cannot be moved below itself or one of its descendants'),
  HAS_CHILDREN: refusal(409, 'DEPT_HAS_CHILDREN', { ids: [1] })
    .zh('存在下级部门，不允许删除')
    .en('The department has child departments'),
  HAS_USERS: refusal(409, 'DEPT_HAS_USERS', { ids: [1] })
    .zh('部门下存在用户，不允许删除')
    .en('The department has users'),
  SUBTREE_TOO_LARGE: refusal(409, 'DEPT_SUBTREE_TOO_LARGE')
    .zh(`一次最多删除 ${MAX_SUBTREE} 个部门，请先删除部分下级部门`)
    .en(`At most ${MAX_SUBTREE} departments can be deleted at once: delete some of those below it first`),
  NOT_A_CHILD: refusal(409, 'DEPT_NOT_A_CHILD', { ids: [1] })
    .zh('部门不属于该上级部门')
    .en('The department has a different parent'),
  TREE_NOT_EMPTY: refusal(409, 'DEPT_TREE_NOT_EMPTY')
    .zh('该租户已有部门，只能向没有部门的租户接管部门')
    .en('The tenant has departments: only one without any can adopt those of another system'),
  CHART_TOO_LARGE: refusal(400, 'DEPT_CHART_TOO_LARGE')
    .zh(`架构图最多包含 ${MAX_BOXES} 个部门，请用 rootId 或 depth 缩小范围`)
    .en(`A chart has at most ${MAX_BOXES} departments: choose a part with rootId or depth`),
  TOO_DEEP: refusal(400, 'DEPT_TOO_DEEP', { field: 'parentId' })
    .zh(`部门层级不能超过 ${MAX_DEPTH} 级`)
    .en(`The department tree can be at most ${MAX_DEPTH} levels deep`),
});

export const TransferErrors = Object.freeze({
  TOO_MANY_IMPORTS: refusal(429, 'TOO_MANY_IMPORTS', { retryAfter: 5 })
    .zh('正在进行的导入过多，请稍后重试')
    .en('Too many imports are running (one at a time per tenant); try again after the time in Retry-After'),
  TOO_MANY_EXPORTS: refusal(429, 'TOO_MANY_EXPORTS', { retryAfter: 5 })
    .zh('正在进行的导出过多，请稍后重试')
    .en('Too many exports are running (one at a time per tenant); try again after the time in Retry-After'),
});
