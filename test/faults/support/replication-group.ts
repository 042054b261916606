import { randomUUID } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import { freePort } from '../../support/free-port';
import { startInnodb } from '../../support/innodb-server';
import { until } from '../../support/until';
import { ask } from './node-state';
import type { ServerProcess } from '../../support/server-process';

export const MEMBERS = [0, 1, 2] as const;
export type MemberNumber = (typeof MEMBERS)[number];
const DATABASE = 'tenantry';

/** Members find each other's gaps over an account of their own. It is made on each, and is not replicated. */
const JOIN = [
  'SET SQL_LOG_BIN = 0',
  "CREATE USER replica@'%' IDENTIFIED BY 'replica'",
  "GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO replica@'%'",
  'SET SQL_LOG_BIN = 1',
  "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'replica', SOURCE_PASSWORD = 'replica' FOR CHANNEL 'group_replication_recovery'",
];
const FOUND = ['SET GLOBAL group_replication_bootstrap_group = ON', 'START GROUP_REPLICATION'];

/** MySQL's Group Replication on loopback: three members that all write (multi-primary). */
export class ReplicationGroup {
  private constructor(private readonly members: readonly ServerProcess[]) {}

  static async start(binary: string): Promise<ReplicationGroup> {
    const name = randomUUID();
    const ports = [await freePort(), await freePort(), await freePort()];
    const members = [];
    for (const [index, port] of ports.entries())
      members.push(await startMember(binary, name, index, port, ports));
    for (const [index, { url }] of members.entries()) {
      await tell(url, JOIN);
      await tell(url, index === 0 ? FOUND : ['START GROUP_REPLICATION']);
    }
    await tell(members[0]!.url, [
      'SET GLOBAL group_replication_bootstrap_group = OFF',
      `CREATE DATABASE ${DATABASE}`,
    ]);
    const group = new ReplicationGroup(members);
    await group.untilWhole();
    return group;
  }

  get urls(): string[] {
    return this.members.map(({ url }) => `${url}/${DATABASE}`);
  }

  urlOf(member: MemberNumber): string {
    return this.urls[member]!;
  }

  portOf(member: MemberNumber): number {
    return this.members[member]!.port;
  }

  /** For sessions that begin from now on. */
  async setConsistency(level: 'EVENTUAL' | 'BEFORE'): Promise<void> {
    for (const { url } of this.members)
      await tell(url, [`SET GLOBAL group_replication_consistency = '${level}'`]);
  }

  async kill(member: MemberNumber): Promise<void> {
    await this.members[member]!.end('SIGKILL');
  }

  /** Starts a member that was killed; it fetches what it has missed. */
  async mend(member: MemberNumber): Promise<void> {
    const server = this.members[member]!;
    await server.restart();
    await tell(server.url, ['START GROUP_REPLICATION']);
    await this.untilWhole();
  }

  /** Waits until each member sees all of them online, and has nothing left to apply. */
  async untilWhole(): Promise<void> {
    for (const { url } of this.members) await until(() => isWhole(url).catch(() => false));
  }

  async stop(): Promise<void> {
    for (const member of this.members) await member.stop();
  }
}

function startMember(
  binary: string,
  name: string,
  index: number,
  port: number,
  ports: readonly number[],
): Promise<ServerProcess> {
  const settings = [
    ...[`--server-id=${index + 1}`, '--log-bin=log', '--gtid-mode=ON', '--enforce-gtid-consistency=ON'],
    ...['--report-host=127.0.0.1', '--plugin-load-add=group_replication.so'],
    ...Object.entries({
      'group-name': name,
      'start-on-boot': 'OFF',
      'local-address': `127.0.0.1:${port}`,
      'group-seeds': ports.map((each) => `127.0.0.1:${each}`).join(),
      'single-primary-mode': 'OFF',
      // Members speak to each other without TLS here, and caching_sha2_password then asks for the server's key.
      'recovery-get-public-key': 'ON',
    }).map(([setting, value]) => `--loose-group-replication-${setting}=${value}`),
  ];
  return startInnodb(binary, { isDurable: true, settings });
}

async function isWhole(url: string): Promise<boolean> {
  const [row] = await ask(
    url,
    `SELECT (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE') AS online,
      (SELECT SUM(COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE) FROM performance_schema.replication_group_member_stats
       WHERE MEMBER_ID = @@server_uuid) AS queue`,
  );
  return Number(row?.online) === MEMBERS.length && Number(row?.queue) === 0;
}

/** In one session. */
async function tell(url: string, statements: readonly string[]): Promise<void> {
  const connection = await createConnection(url);
  for (const sql of statements) await connection.query(sql);
  await connection.end();
}
