import { refusal } from '../../errors/refusal';

export const AccountErrors = Object.freeze({
  NOT_FOUND: refusal(404, 'USER_NOT_FOUND').zh('账号不存在').en('There is no such account'),
  DEPT_DISABLED: refusal(409, 'DEPT_DISABLED').zh('部门已停用').en('The department is disabled'),
  USERNAME_TAKEN: refusal(409, 'USERNAME_TAKEN').zh('账号已存在').en('The user name is already taken'),
  LIMIT: refusal(409, 'ACCOUNT_LIMIT').zh('账号数量已达上限').en('The tenant has reached its account limit'),
  LAST_SUPERADMIN: refusal(409, 'LAST_SUPERADMIN')
    .zh('不能删除、停用、降级最后一个超级管理员，或限制其数据范围')
    .en('The last superadmin cannot be deleted, disabled, demoted or limited to a data scope'),
  ROLE_TOO_HIGH: refusal(403, 'ROLE_TOO_HIGH')
    .zh('不能授予或管理高于自身级别的角色')
    .en('You cannot grant or manage a role above your own'),
  WRONG_PASSWORD: refusal(403, 'WRONG_PASSWORD').zh('原密码不正确').en('The old password is incorrect'),
});
