import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from './env';

/** An account of the demo that the console signs in by one click. */
export interface DemoAccount {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly username: string;
  readonly role: string;
  readonly password: string;
}

export function fileOfDemo({ DATA_DIR }: Pick<Env, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'demo-accounts.json');
}

/** For whoever may read the secret that is beside it. */
export function keepDemoAccounts(env: Env, accounts: readonly DemoAccount[]): void {
  mkdirSync(env.DATA_DIR, { recursive: true });
  writeFileSync(fileOfDemo(env), JSON.stringify(accounts), { mode: 0o600 });
}

/** Never in production: everybody who opens the page sees them. */
export function demoAccounts(env: Env): readonly DemoAccount[] {
  if (env.NODE_ENV === 'production') return [];
  try {
    return JSON.parse(readFileSync(fileOfDemo(env), 'utf8')) as DemoAccount[];
  } catch {
    return [];
  }
}
