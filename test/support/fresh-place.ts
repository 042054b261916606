import type { ThrowAwayDatabase } from '../../src/server/testing';
import { freePort } from './free-port';
import { emptyDatabase } from './test-database';

/** Where a process is started: a database and a port of its own for each test of the surrounding block. */
export class FreshPlace {
  database!: ThrowAwayDatabase;
  port!: string;

  constructor() {
    beforeEach(async () => {
      this.database = await emptyDatabase();
      this.port = String(await freePort());
    });
    afterEach(() => this.database.drop());
  }

  settings(more: Record<string, string> = {}): Record<string, string> {
    return { DATABASE_URL: this.database.url, PORT: this.port, ...more };
  }
}
