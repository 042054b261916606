import type { DataSource, DataSourceOptions } from 'typeorm';

export type Tables = Pick<DataSourceOptions, 'entities' | 'migrations'>;
/** How long a process waits for another that prepares the same database. */
export const LOCK_WAIT_S = 120;

export type Unlock = () => Promise<void>;

/** What the service does with a database before it is open. */
export interface Backend {
  /** Not yet initialised. `onWait` is called when the server is not there yet. */
  createDataSource(tables: Tables, onWait?: () => void): Promise<DataSource>;
  /** Keeps other processes from preparing the same database; they wait. */
  lock(): Promise<Unlock>;
}
