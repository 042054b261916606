import './transfer';
import './changes';
import './depts';
import './dept-writes';
import './tenants';
import './accounts';
import './quotas';

/**
 * The operations of the service without an application around them: prepared statements of mysql2 or pg, no validation, the same bytes,
 * and the same guarantees in the database, the journal included. The Express and the smallest Nest application mount them. On PostgreSQL
 * only departments are read and written; files, tenants and accounts have the SQL of MariaDB.
 */
export { operations } from './operation';
