import { randomUUID } from 'node:crypto';
import { closedLoad, rawRequest } from '../../test/support/load';
import { costOf } from '../support/cost';
import { interleave, quantile, type Side } from '../support/figures';
import { ratioResult, type Measure, type Result } from '../support/result';
import type { ServerProcess } from '../support/server-process';
import { fillTenants, type Caller } from '../support/world';

const USE = '/system/quota-api/riskReport/use';
const DEPTS = '/system/dept-api';
const ROUNDS = 7;
const USES = 400;
/** For the compiler of the engine. */
const WARM_UP_ROUNDS = 25;
const CONNECTIONS = 16;
const CREATES = 150;
const BASELINE = 'the smallest Nest application';

/** What it costs to spend a quota, and whether it slows department writes. */
export const quota: Measure = {
  name: 'quota',
  async run(bed) {
    const service = await bed.service();
    const dataSource = await bed.dataSource();
    const callers = await fillTenants(dataSource, { tenants: 20, depts: 100 });
    await dataSource.query(
      `INSERT INTO tenantry_quota (tenant_id, kind, total, used, reserved, last_seq)
       SELECT tenant_id, 'riskReport', -1, 0, 0, 0 FROM tenantry_tenant WHERE tenant_id <> '000000'`,
    );
    await dataSource.query("UPDATE tenantry_tenant SET quota_risk_report = -1 WHERE tenant_id <> '000000'");
    const smallest = await bed.baseline('smallest-nest');
    return [
      await cost(service, smallest, callers),
      await hotCounter(service, smallest, callers),
      await besideDepts(service, callers),
    ];
  },
};

function useOf(caller: Caller | undefined): string {
  return rawRequest('POST', USE, caller?.token ?? '', { key: randomUUID() });
}

function turnsOf(callers: readonly Caller[]): (_: number, n: number) => string {
  return (_, n) => useOf(callers[n % callers.length]);
}

async function cost(
  service: ServerProcess,
  smallest: ServerProcess,
  callers: readonly Caller[],
): Promise<Result> {
  const load = {
    connections: CONNECTIONS,
    requests: USES,
    leadIn: callers.length,
    request: turnsOf(callers),
  };
  const sides = [service, smallest].map(
    (server): Side =>
      () =>
        costOf({ ...load, port: server.port, cpuMs: () => server.cpuMs() }),
  );
  await interleave(sides, WARM_UP_ROUNDS);
  const [own = [], theirs = []] = await interleave(sides, ROUNDS);
  const heading = { work: 'Use of a quota', baseline: BASELINE, bound: 1.5 };
  return ratioResult(heading, own, theirs, 'µs CPU');
}

/** All connections spend the same quota of one tenant. */
async function hotCounter(
  service: ServerProcess,
  smallest: ServerProcess,
  callers: readonly Caller[],
): Promise<Result> {
  const sides = [service, smallest].map(({ port }): Side => {
    return async () => {
      const start = performance.now();
      await closedLoad({
        port,
        connections: CONNECTIONS,
        requests: USES,
        request: turnsOf(callers.slice(0, 1)),
      });
      return (performance.now() - start) / USES;
    };
  });
  await interleave(sides, 2);
  const [own = [], theirs = []] = await interleave(sides, ROUNDS);
  const heading = { work: 'Uses of one hot quota, 16 connections', baseline: BASELINE, bound: 1.2 };
  return ratioResult(heading, own, theirs, 'ms each');
}

/** Creates in a tenant whose quota is spent meanwhile, against creates while as much is spent in another tenant. */
async function besideDepts(service: ServerProcess, [first, second]: readonly Caller[]): Promise<Result> {
  const { port } = service;
  const create = rawRequest('POST', DEPTS, first?.token ?? '', {
    parentId: first?.firstDept ?? 0,
    deptName: '研发部',
  });
  const sides = [first, second].map((spender): Side => {
    return async () => {
      let isOver = false;
      const spending = closedLoad({
        ...{ port, connections: 4, paceMs: 40, requests: () => !isOver, request: () => useOf(spender) },
      });
      const took = await closedLoad({ port, connections: 1, requests: CREATES, request: () => create });
      isOver = true;
      await spending;
      return quantile(took, 0.5);
    };
  });
  await interleave(sides, 2);
  const [same = [], other = []] = await interleave(sides, ROUNDS);
  const heading = {
    work: 'Create of a department while a quota of its tenant is spent 100 times a second',
    baseline: 'while one of another tenant is',
    bound: 1.1,
  };
  return ratioResult(heading, same, other, 'ms');
}
