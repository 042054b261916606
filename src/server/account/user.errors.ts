import { defineErrors } from '../../errors/refusal';

export const UserErrors = defineErrors({
  NOT_FOUND: {
    reason: 'USER_NOT_FOUND',
    status: 404,
    zh: '账号不存在',
    en: 'There is no such account',
  },
  DEPT_DISABLED: { reason: 'DEPT_DISABLED', status: 409, zh: '部门已停用', en: 'The department is disabled' },
  USERNAME_TAKEN: {
    reason: 'USERNAME_TAKEN',
    status: 409,
    zh: '账号已存在',
    en: 'The user name is already taken',
  },
  LIMIT: {
    reason: 'ACCOUNT_LIMIT',
    status: 409,
    zh: '账号数量已达上限',
    en: 'The tenant has reached its account limit',
  },
  LAST_SUPERADMIN: {
    reason: 'LAST_SUPERADMIN',
    status: 409,
    zh: '不能删除、停用或降级最后一个超级管理员',
    en: 'The last superadmin cannot be deleted, disabled or demoted',
  },
  ROLE_TOO_HIGH: {
    reason: 'ROLE_TOO_HIGH',
    status: 403,
    zh: '不能授予或管理高于自身级别的角色',
    en: 'You cannot grant or manage a role above your own',
  },
  WRONG_PASSWORD: {
    reason: 'WRONG_PASSWORD',
    status: 403,
    zh: '原密码不正确',
    en: 'The old password is incorrect',
  },
});
