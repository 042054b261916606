import { bareExpress, claimsOf, serve } from './bare-express';
import { barePool } from './bare-mysql';
import { DEPT_COLUMNS, deptJson, success, type DeptRow } from './dept-json';

const SELECT = `SELECT ${DEPT_COLUMNS} FROM tenantry_dept WHERE dept_id = ? AND tenant_id = ? AND del_flag = '0'`;

const pool = barePool();
const app = bareExpress();

app.get('/system/dept-api/:id', (request, response, next) => {
  const { tenantId } = claimsOf(request);
  pool.execute(SELECT, [request.params.id, tenantId], (error, rows) => {
    if (error) {
      next(error);
      return;
    }
    const [row] = rows as DeptRow[];
    if (row) response.json(success(deptJson(row)));
    else response.sendStatus(404);
  });
});

serve(app);
