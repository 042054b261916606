import 'reflect-metadata';
import { loadEnv } from './src/server/config/env';
import { createServiceDataSource } from './src/server/service-data-source';

/** What the TypeORM CLI works on: the same database, entities and migrations as the service, with a log for people. */
export default createServiceDataSource(loadEnv().DATABASE_URL).then((dataSource) =>
  dataSource.setOptions({ logger: 'advanced-console' }),
);
