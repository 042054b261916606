import 'reflect-metadata';
import { loadEnv } from './src/server/config/env';
import { createDataSource } from './src/data-source';

/** What the TypeORM CLI works on: the same database, entities and migrations as the service. */
export default createDataSource(loadEnv().DATABASE_URL);
