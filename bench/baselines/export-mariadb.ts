import { bareExpress, claimsOf, serve } from './bare-express';
import { barePool } from './bare-mysql';

/** In the order of the service's export, through the index that has it. */
const SELECT = `SELECT dept_id, parent_id, ancestors, dept_name, order_num, leader, phone, email, status
  FROM tenantry_dept FORCE INDEX (ix_dept_subtree) WHERE tenant_id = ? AND del_flag = '0'
  ORDER BY ancestors, order_num, dept_id`;
/** So much text goes out at once. */
const CHUNK = 65_536;

const pool = barePool();
const app = bareExpress();

app.get('/system/dept-api/export', (request, response, next) => {
  const { tenantId } = claimsOf(request);
  pool.getConnection((error, connection) => {
    if (error) {
      next(error);
      return;
    }
    let text = '';
    response.type('application/x-ndjson');
    connection
      .query(SELECT, [tenantId])
      .on('result', (row) => {
        text += `${JSON.stringify(row)}\n`;
        if (text.length < CHUNK) return;
        const isTaken = response.write(text);
        text = '';
        if (isTaken) return;
        connection.pause();
        response.once('drain', () => {
          connection.resume();
        });
      })
      .on('error', next)
      .on('end', () => {
        connection.release();
        response.end(text);
      });
  });
});

serve(app);
