import { DatabaseSync } from '@photostructure/sqlite';
import { bareExpress, claimsOf, serve } from './bare-express';
import { DEPT_COLUMNS, deptJson, success, type DeptRow } from './dept-json';

const [, path = ''] = (process.env.DATABASE_URL ?? '').split('sqlite:');
// As the service opens it for its reads; the file itself is in WAL mode.
const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
const select = database.prepare(
  `SELECT ${DEPT_COLUMNS} FROM tenantry_dept WHERE dept_id = ? AND tenant_id = ? AND del_flag = '0'`,
);
const app = bareExpress();
// The driver closes a database that nobody holds on to, with its statements.
app.locals.database = database;

app.get('/system/dept-api/:id', (request, response) => {
  const { tenantId } = claimsOf(request);
  const row = select.get(request.params.id, tenantId) as DeptRow | undefined;
  if (row) response.json(success(deptJson(row)));
  else response.sendStatus(404);
});

serve(app);
