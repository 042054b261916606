import type { ThrowAwayDatabase } from '../../src/server/testing';
import { Chance, faultsSeed } from '../support/chance';
import { ChildService } from '../support/child-service';
import { openBeside } from '../support/crash-rounds';
import { aTenantRow } from '../support/seeds';
import { mysqlBinary } from '../support/server-binaries.js';
import { TcpProxy } from '../support/tcp-proxy';
import { WriteLoad } from '../support/write-load';
import { expectSoundAndEqual } from './support/node-state';
import { opposingWrites } from './support/opposing-writes';
import { MEMBERS, ReplicationGroup } from './support/replication-group';

const ROUNDS = 100;
const BEFORE = 60;

describe("MySQL's Group Replication with three members that write", () => {
  let group: ReplicationGroup;
  let services: ChildService[] = [];

  beforeAll(async () => {
    group = await ReplicationGroup.start(mysqlBinary()!);
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await group.stop();
  });

  const serviceOn = (url: string) => ChildService.start({ url, folder: '/tmp' } as ThrowAwayDatabase);
  const expectWhole = async (): Promise<void> => {
    await group.untilWhole();
    await expectSoundAndEqual(group.urls);
  };

  it('a replication group has its empty database prepared by a replica of the service on each member, all at once', async () => {
    services = await Promise.all(group.urls.map(serviceOn));
    await expectWhole();
  });

  it('a replication group answers opposing writes on two members as one server would, with no 500, and no cycle comes of them', async () => {
    const dataSource = await openBeside({ url: group.urlOf(0) });
    const tenantId = await aTenantRow(dataSource);
    await dataSource.destroy();
    await group.untilWhole();
    const [here, there] = [services[0]!.as({ tenantId }), services[1]!.as({ tenantId })];
    const statuses = await opposingWrites(here, there, ROUNDS);
    process.stderr.write(`${JSON.stringify(statuses)}\n`);
    // Of each pair one wins. The loser is told of the cycle, the children, or the parent that is gone.
    expect(statuses[200]).toBe(2 * ROUNDS);
    expect((statuses[404] ?? 0) + (statuses[409] ?? 0)).toBe(2 * ROUNDS);
    await expectWhole();
  });

  it('a replication group keeps every acknowledged write, once, while each member is killed in turn and comes back', async () => {
    // Whoever takes over has applied what was acknowledged before.
    await group.setConsistency('BEFORE');
    const chance = new Chance(faultsSeed('replication group'));
    const { proxy, url } = await TcpProxy.before(group.urlOf(0));
    const behind = await Promise.all([serviceOn(url), serviceOn(url)]);
    services.push(...behind);
    const dataSource = await openBeside({ url: group.urlOf(0) });
    const load = await WriteLoad.on(
      behind.map((service) => () => service.anonymous),
      dataSource,
      chance,
      { shared: 6 },
    );
    await dataSource.destroy();
    load.begin();
    for (const member of MEMBERS) {
      await load.untilMore(BEFORE);
      await group.kill(member);
      // As a load balancer does it.
      proxy.upstreamPort = group.portOf(MEMBERS[(member + 1) % MEMBERS.length]!);
      await load.untilMore(BEFORE);
      await group.mend(member);
    }
    await load.rest();
    const { acknowledged, retried } = load;
    process.stderr.write(`${JSON.stringify({ acknowledged, retried })}\n`);
    await expectWhole();
    for (const each of group.urls) {
      const beside = await openBeside({ url: each });
      expect(await load.problems(beside)).toEqual([]);
      await beside.destroy();
    }
    await proxy.close();
  });
});
