import type { Resource } from '../../resource/resource';
import { resources } from '../../resources';
import { ACCOUNTS } from '../account/account.module';
import { SIGNING_IN } from '../auth/auth.module';
import { KEYS } from '../key/key.module';

const { depts, tenants, ...others } = resources;

/** The resources of the service, in the order in which a person meets them. */
export const serviceResources: readonly Resource[] = [
  SIGNING_IN,
  depts,
  tenants,
  ACCOUNTS,
  KEYS,
  ...Object.values(others),
];
