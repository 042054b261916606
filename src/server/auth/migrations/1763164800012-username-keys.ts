import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Columns } from '../../../database/migrations/columns';

const TABLE = 'tenantry_account';
const INDEX = {
  name: 'ux_account_username_key',
  columnNames: ['tenant_id', 'username_key', 'name_key'],
  isUnique: true,
};
const LONGEST = 64;
const PAGE = 1000;

interface Account {
  readonly user_id: number | string;
  readonly tenant_id: string;
  readonly username: string;
  readonly name_key: number | string;
}

/** As it was when this migration was written: what it does must not change with the code. */
function usernameKey(username: string): string {
  const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
  return username.normalize('NFKC').replace(invisible, '').trim();
}

/**
 * What user names are compared by, so that none looks like another. Of accounts that look the same already, the one whose
 * name is written plainly has the key, or else the oldest; the others keep their names as they are. The column may be
 * empty: the version before does not know it.
 */
export class UsernameKeys1763164800012 implements MigrationInterface {
  name = 'UsernameKeys1763164800012';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.add(TABLE, c.text('username_key', LONGEST, { isNullable: true }));
    await c.query(`UPDATE ${c.table(TABLE)} SET username_key = username`);
    await c.addIndex(TABLE, INDEX);
    for (let page = await nextPage(c, 0); page.length > 0;) {
      for (const account of page) await simplify(c, account);
      page = await nextPage(c, page.at(-1)?.user_id ?? 0);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.dropIndex(TABLE, INDEX);
    await c.drop(TABLE, 'username_key');
  }
}

async function nextPage(c: Columns, after: number | string): Promise<Account[]> {
  const columns = 'user_id, tenant_id, username, name_key';
  const select = `SELECT ${columns} FROM ${c.table(TABLE)} WHERE user_id > ? ORDER BY user_id LIMIT ${PAGE}`;
  return (await c.query(select, [after])) as Account[];
}

async function simplify(c: Columns, account: Account): Promise<void> {
  const key = usernameKey(account.username);
  if (key === account.username || key === '' || Array.from(key).length > LONGEST) return;
  const taken = await c.query(
    `SELECT user_id FROM ${c.table(TABLE)} WHERE tenant_id = ? AND username_key = ? AND name_key = ?`,
    [account.tenant_id, key, account.name_key],
  );
  if (taken.length > 0) return;
  await c.query(`UPDATE ${c.table(TABLE)} SET username_key = ? WHERE user_id = ?`, [key, account.user_id]);
}
