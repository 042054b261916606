import { bareExpress, claimsOf, serve } from './bare-express';
import { barePool } from './bare-mysql';
import { DEPT_COLUMNS, deptJson, success, type DeptJson, type DeptRow } from './dept-json';

// The database sorts, so that this process need not.
const SELECT = `SELECT ${DEPT_COLUMNS} FROM tenantry_dept WHERE tenant_id = ? AND del_flag = '0'
  ORDER BY order_num, dept_id LIMIT 5001`;

type Node = DeptJson & { hasChildren: boolean; children: Node[] };

const pool = barePool();
const app = bareExpress();

app.get('/system/dept-api/tree', (request, response, next) => {
  const { tenantId } = claimsOf(request);
  pool.execute(SELECT, [tenantId], (error, rows) => {
    if (error) next(error);
    else response.json(success({ rows: nest(rows as DeptRow[]), truncated: false }));
  });
});

function nest(rows: readonly DeptRow[]): Node[] {
  const nodes = new Map<number, Node>();
  for (const row of rows) {
    nodes.set(row.dept_id, Object.assign(deptJson(row), { hasChildren: false, children: [] }));
  }
  const tops: Node[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parentId);
    if (parent) {
      parent.hasChildren = true;
      parent.children.push(node);
    } else tops.push(node);
  }
  return tops;
}

serve(app);
