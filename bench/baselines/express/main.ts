import type { NextFunction, Request, Response } from 'express';
import './transfer';
import './changes';
import './depts';
import './dept-writes';
import './tenants';
import './accounts';
import './quotas';
import { app, HttpError } from './http';

/**
 * What the operations of the service cost without it: Express 5, jsonwebtoken with a KeyObject, prepared statements of
 * mysql2 or pg, no validation. It sends the same bytes, and keeps the same guarantees in the database, the journal included. On PostgreSQL only
 * departments are read and written; files, tenants and accounts have the SQL of MariaDB.
 */
app.get('/health/ready', (_, response) => {
  response.end();
});
app.use((error: unknown, _: Request, response: Response, next: NextFunction) => {
  if (response.headersSent) next(error);
  else response.status(error instanceof HttpError ? error.status : 500).json({ error: String(error) });
});
app.listen(Number(process.env.PORT), process.env.HOST ?? '');
