import type { Env } from '../../config/env';
import { PLATFORM_TENANT } from '../../../tenancy/tenant-code';
import type { FirstAdmin } from '../../account/first-admin';
import type { DemoBuilder } from './demo-builder';

const ADMIN = { tenantId: PLATFORM_TENANT, username: 'admin' };

interface Passwords {
  /** Of all accounts but `admin`. */
  readonly password: string;
  /** Whether the operator chose it: then it is not shown. */
  readonly chosen: boolean;
  readonly firstAdmin: FirstAdmin | null;
}

/** Who can sign in, and what to try next. */
export function report(
  { users, tenantCount, deptCount }: DemoBuilder,
  env: Env,
  { password, chosen, firstAdmin }: Passwords,
): string {
  const adminPassword = firstAdmin ? (firstAdmin.password ?? 'ADMIN_PASSWORD') : 'as before';
  const shown = chosen ? 'as given' : password;
  const rows = users.map(({ tenantId, tenantName, username, role }) => [
    ...[tenantId, tenantName, username, role],
    role === 'superadmin' ? adminPassword : shown,
  ]);
  const { tenantId, username } = users.find((user) => user.tenantId !== PLATFORM_TENANT) ?? ADMIN;
  const address = `http://${/^(0\.0\.0\.0|::)$/.test(env.HOST) ? '127.0.0.1' : env.HOST}:${env.PORT}`;
  const credentials = JSON.stringify({ tenantId, username, password: chosen ? '…' : password });
  return [
    `The example organisation is there: ${tenantCount} tenants, ${deptCount} departments, ${users.length} accounts.`,
    '',
    ...table([['TENANT', 'NAME', 'USER', 'ROLE', 'PASSWORD'], ...rows]),
    '',
    'Passwords are shown only this once. Start the service (npm start), then try:',
    '',
    `  TOKEN=$(curl -s ${address}/auth/login -H 'Content-Type: application/json' \\`,
    `    -d '${credentials}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
    `  curl ${address}/system/dept-api/tree -H "Authorization: Bearer $TOKEN"`,
    '',
    env.DOCS === 'on'
      ? `Or open ${address}/docs, press Authorize and sign in as ${tenantId}/${username}.`
      : 'Swagger UI is off; DOCS=on opens it at /docs.',
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
      .join('  ')
      .trimEnd(),
  );
}

/** Columns on a terminal: a Chinese character takes two. */
function width(text: string): number {
  return text.length + (text.match(/[\u2e80-\uffef]/g)?.length ?? 0);
}
