import { defineErrors } from '../../errors/refusal';

export const EntitlementErrors = defineErrors({
  MENU_NOT_LICENSED: {
    reason: 'MENU_NOT_LICENSED',
    status: 403,
    ids: [100],
    zh: '所属租户未获授权使用该功能',
    en: 'The package of your tenant does not include this',
  },
});
