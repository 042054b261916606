import { accessesOf } from '../support/isolation/tenant-statements';

const OWNED = new Set(['dept', 'account']);
const unbound = (sql: string) =>
  accessesOf(sql, OWNED)
    .filter(({ bindings }) => bindings.length === 0)
    .map(({ table }) => table);

describe('the search for statements without a tenant', () => {
  it.each([
    "SELECT * FROM dept WHERE tenant_id = '1'",
    'SELECT * FROM `dept` `t` WHERE (`t`.`dept_id` = ? AND `t`.`del_flag` = ?) AND `t`.`tenant_id` = ?',
    'SELECT * FROM dept t WHERE ((t.tenant_id = ?) OR (t.tenant_id = ? AND t.x = 1)) LIMIT 1',
    'SELECT 1 FROM other WHERE id = 1',
    'UPDATE dept SET tenant_id = ? WHERE tenant_id = ?',
    'DELETE FROM "dept" WHERE "tenant_id" = ?',
    'INSERT INTO dept (dept_id, tenant_id) VALUES (?, ?), (?, ?)',
    'SELECT * FROM dept d JOIN account a ON a.tenant_id = d.tenant_id AND a.dept_id = d.dept_id WHERE d.tenant_id = ?',
    'SELECT * FROM other WHERE id IN (SELECT dept_id FROM dept WHERE tenant_id = ?)',
    "SELECT 'FROM dept' AS text",
  ])('the search for statements without a tenant lets %s pass', (sql) => {
    expect(unbound(sql)).toEqual([]);
  });

  it.each([
    ['SELECT * FROM dept', ['dept']],
    ['SELECT tenant_id FROM dept WHERE dept_id = ?', ['dept']],
    ["SELECT * FROM dept WHERE dept_name = 'tenant_id = 1'", ['dept']],
    ["SELECT * FROM dept WHERE dept_name = 'it''s' AND leader = 'WHERE tenant_id = 1'", ['dept']],
    ['SELECT * FROM dept t WHERE t.tenant_id = ? OR t.dept_id = ?', ['dept']],
    ['SELECT * FROM dept t WHERE (t.dept_id = ? OR (t.tenant_id = ? AND t.x = 1))', ['dept']],
    ['SELECT * FROM dept t WHERE NOT t.tenant_id = ?', ['dept']],
    ['SELECT * FROM dept t WHERE t.tenant_id = t.tenant_id', ['dept']],
    ['SELECT * FROM dept t WHERE t.tenant_id <> ?', ['dept']],
    ['SELECT * FROM dept t JOIN account a ON a.dept_id = t.dept_id WHERE t.tenant_id = ?', ['account']],
    ['SELECT * FROM dept t, account a WHERE t.tenant_id = ? AND tenant_id = ?', ['account']],
    ['SELECT * FROM dept WHERE tenant_id = ? AND dept_id IN (SELECT dept_id FROM account)', ['account']],
    ['SELECT 1 FROM dept WHERE tenant_id = ? UNION SELECT 1 FROM account', ['account']],
    ['SELECT * FROM (SELECT * FROM dept) x WHERE x.tenant_id = ?', ['dept']],
    ['UPDATE dept SET tenant_id = ? WHERE dept_id = ?', ['dept']],
    ['DELETE FROM dept WHERE dept_id = ? -- AND tenant_id = ?', ['dept']],
    ['INSERT INTO dept (dept_id) VALUES (?)', ['dept']],
    [
      'INSERT INTO dept (dept_id, tenant_id) SELECT dept_id, tenant_id FROM account WHERE user_id = ?',
      ['account'],
    ],
  ])('the search for statements without a tenant stops at %s', (sql, tables) => {
    expect(unbound(sql)).toEqual(tables);
  });

  it('the search for statements tells which tenants a statement is bound to', () => {
    const bindings = (sql: string) => accessesOf(sql, OWNED).map((access) => access.bindings);
    expect(bindings("SELECT * FROM dept WHERE x = ? AND tenant_id = ? AND y = 'a'")).toEqual([[[1]]]);
    expect(bindings("INSERT INTO dept (x, tenant_id) VALUES (1, '7'), (2, '8')")).toEqual([[['7', '8']]]);
    expect(
      bindings("SELECT 1 FROM dept t WHERE t.tenant_id = '7' AND (t.tenant_id = ? OR t.tenant_id = '8')"),
    ).toEqual([[['7'], [0, '8']]]);
    const below = "t.tenant_id = '7' OR INSTR(CONCAT(',', t.ancestors, ','), ',7,') > 0";
    expect(bindings(`SELECT 1 FROM dept t WHERE t.id = 1 AND (${below})`)).toEqual([[['7', ',7,']]]);
  });
});
