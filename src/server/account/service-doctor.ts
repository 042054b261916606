import { Doctor } from '../../doctor/doctor';
import { codesWithoutTenant, LIBRARY, type Invariant } from '../../doctor/invariants';
import { JOURNALLED_KEY } from '../key/key.repository';
import { JOURNALLED_ACCOUNT } from './account.repository';

const SUPERADMIN = `SELECT 1 FROM tenantry_account s WHERE s.tenant_id = '000000' AND s.del_flag = '0'
  AND s.status = '0' AND s.roles LIKE 'superadmin%'`;

/** Tenants with more accounts than they may have; `isHeld` is true where the limit was changed after the newest account came. */
const overLimit = (isHeld: boolean): string => `
  SELECT t.tenant_id AS subject
    FROM tenantry_tenant t JOIN tenantry_account a ON a.tenant_id = t.tenant_id AND a.del_flag = '0'
   WHERE t.del_flag = '0' AND t.account_count >= 0
   GROUP BY t.tenant_id, t.account_count, t.update_time
  HAVING COUNT(*) > t.account_count
     AND CASE WHEN t.update_time >= MAX(a.create_time) THEN 1 ELSE 0 END = ${isHeld ? 1 : 0}`;

/** Rows whose list in this column names departments that are deleted or missing; a list is ids with commas between them. */
const danglingDepts = (table: string, id: string, column: string): string => `
  SELECT g.${id} AS subject FROM ${table} g
   WHERE g.del_flag = '0' AND g.${column} IS NOT NULL
     AND LENGTH(g.${column}) - LENGTH(REPLACE(g.${column}, ',', '')) + 1 >
         (SELECT COUNT(*) FROM tenantry_dept d WHERE d.tenant_id = g.tenant_id AND d.del_flag = '0'
             AND CONCAT(',', g.${column}, ',') LIKE CONCAT('%,', d.dept_id, ',%'))`;

/** They give nothing, and give again what they gave if they are restored. */
const dangling = (noun: string, table: string, id: string): readonly Invariant[] => [
  [
    noun,
    'manages a department that is deleted or missing',
    danglingDepts(table, id, 'managed_dept_ids'),
    'note',
  ],
  [
    noun,
    'has a deleted or missing department in its data scope',
    danglingDepts(table, id, 'scope_dept_ids'),
    'note',
  ],
];

const INVARIANTS: readonly Invariant[] = [
  [
    'account',
    'its department is deleted or missing',
    `SELECT a.user_id AS subject FROM tenantry_account a
       LEFT JOIN tenantry_dept d ON d.dept_id = a.dept_id AND d.tenant_id = a.tenant_id AND d.del_flag = '0'
      WHERE a.del_flag = '0' AND a.dept_id IS NOT NULL AND d.dept_id IS NULL`,
  ],
  [
    'account',
    'its name could be taken twice: a live one has the name key 0, a deleted one its own id',
    `SELECT user_id AS subject FROM tenantry_account
      WHERE name_key <> CASE WHEN del_flag = '0' THEN 0 ELSE user_id END`,
  ],
  [
    'account',
    'is a superadmin outside the platform',
    `SELECT user_id AS subject FROM tenantry_account
      WHERE roles LIKE '%superadmin%' AND tenant_id <> '000000' AND del_flag = '0'`,
  ],
  [
    'tenant',
    'has accounts, and no enabled superadmin among them',
    `SELECT tenant_id AS subject FROM tenantry_tenant WHERE tenant_id = '000000' AND NOT EXISTS (${SUPERADMIN})
        AND EXISTS (SELECT 1 FROM tenantry_account a WHERE a.tenant_id = '000000')`,
  ],
  ['tenant', 'has accounts but never existed', codesWithoutTenant('tenantry_account')],
  ['tenant', 'has sessions but never existed', codesWithoutTenant('tenantry_session')],
  [
    'key',
    'its name could be taken twice: a live one has the name key 0, a deleted one its own id',
    `SELECT key_id AS subject FROM tenantry_key
      WHERE name_key <> CASE WHEN del_flag = '0' THEN 0 ELSE key_id END`,
  ],
  [
    'key',
    'is a superadmin outside the platform',
    `SELECT key_id AS subject FROM tenantry_key
      WHERE roles LIKE '%superadmin%' AND tenant_id <> '000000' AND del_flag = '0'`,
  ],
  ['tenant', 'has keys but never existed', codesWithoutTenant('tenantry_key')],
  ['tenant', 'has more accounts than its limit allowed', overLimit(false)],
  // To lower a limit is allowed, and removes no account.
  ['tenant', 'has more accounts than its limit allows now', overLimit(true), 'note'],
  ...dangling('account', 'tenantry_account', 'user_id'),
  ...dangling('key', 'tenantry_key', 'key_id'),
];

/** Examines the accounts and the keys too, which only the database of the service has. */
export class ServiceDoctor extends Doctor {
  protected override readonly examined = {
    resources: [...LIBRARY.resources, JOURNALLED_ACCOUNT, JOURNALLED_KEY],
    invariants: [...LIBRARY.invariants, ...INVARIANTS],
  };
}
