import { refusal } from '../../errors/refusal';

export const EntitlementErrors = Object.freeze({
  MENU_NOT_LICENSED: refusal(403, 'MENU_NOT_LICENSED', { ids: [100] })
    .zh('所属租户未获授权使用该功能')
    .en('The package of your tenant does not include this'),
});

export const CeilingErrors = Object.freeze({
  PACKAGE: refusal(409, 'PACKAGE_EXCEEDS_PARENT', { ids: [102, 103] })
    .zh('下级租户的菜单必须是上级租户菜单的一部分')
    .en('The menus of a tenant must be among those of its parent'),
  QUOTA: refusal(409, 'QUOTA_EXCEEDS_PARENT', { field: 'quotaBo' })
    .zh('下级租户的配额总和不能超过上级租户的配额')
    .en('The quotas of all children of a tenant together must not be more than its own'),
});
