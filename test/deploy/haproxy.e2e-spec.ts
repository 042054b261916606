import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { aDept, ApiClient, throwAwayDatabase, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { ROOT, withPrograms } from '../support/deploy-tools';
import { freePort } from '../support/free-port';
import { until } from '../support/until';

const CONFIG = join(ROOT, 'deploy', 'haproxy', 'haproxy.cfg');
const CLIENTS = 8;
const MOST_WAIT_MS = 25_000;

describe('deploy/haproxy', () => {
  it('HAProxy waits longer than a follower of changes does', () => {
    const config = readFileSync(CONFIG, 'utf8');
    for (const side of ['client', 'server']) {
      const [, seconds] = new RegExp(`^ +timeout ${side} (\\d+)s$`, 'm').exec(config) ?? [];
      expect(Number(seconds) * 1000).toBeGreaterThan(MOST_WAIT_MS);
    }
  });

  withPrograms(['haproxy'], () => {
    let database: ThrowAwayDatabase;
    let folder: string;
    let replicas: ChildService[];
    let proxy: ChildProcess;
    let api: ApiClient;
    const token = () => replicas[0]!.as();

    const start = () =>
      ChildService.start(database, { TRUST_PROXY: '1', SHUTDOWN_DRAIN_MS: '3000', LOG_LEVEL: 'info' });
    const addressOf = (service: ChildService) => new URL(service.anonymous.baseUrl).host;

    /** What HAProxy says of its servers, or does when it is told to. */
    async function tell(command: string): Promise<string> {
      const socket = connect(join(folder, 'admin'));
      socket.write(`${command}\n`);
      return text(socket);
    }
    async function stateOf(replica: string): Promise<string> {
      const lines = (await tell('show stat')).split('\n').map((line) => line.split(','));
      const column = lines[0]!.indexOf('status');
      return lines.find(([, name]) => name === replica)![column]!;
    }

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'tenantry-haproxy-'));
      database = await throwAwayDatabase();
      replicas = [await start()];
      replicas.push(await start());
      const port = await freePort();
      const env = {
        ...process.env,
        LISTEN: `127.0.0.1:${port}`,
        ADMIN_SOCKET: join(folder, 'admin'),
        REPLICA1: addressOf(replicas[0]!),
        REPLICA2: addressOf(replicas[1]!),
      };
      execFileSync('haproxy', ['-c', '-f', CONFIG], { env });
      proxy = spawn('haproxy', ['-f', CONFIG], { env, stdio: 'ignore' });
      api = new ApiClient(`http://127.0.0.1:${port}`);
      await until(async () => (await api.get('/').catch(() => null))?.status === 200);
      await until(async () => (await stateOf('replica2')) === 'UP');
    });
    afterAll(async () => {
      proxy.kill('SIGTERM');
      await once(proxy, 'exit');
      for (const replica of replicas) await replica.stop();
      api.close();
      await database.drop();
      rmSync(folder, { recursive: true });
    });

    it('a replica that stops while clients read, write and follow is out before it closes, and nobody sees an error', async () => {
      const as = token();
      const deptId = await aDept(as);
      const { authorization } = (as as unknown as { headers: { authorization: string } }).headers;
      const answers: number[] = [];
      let isOver = false;
      const clients = Array.from({ length: CLIENTS }, async (_, index) => {
        const client = new ApiClient(api.baseUrl, { authorization });
        while (!isOver) {
          const isWrite = index % 4 === 0;
          const answer = isWrite
            ? await client.post('/system/dept-api', { deptName: 'through the proxy' })
            : await client.get(`/system/dept-api/${deptId}`);
          answers.push(answer.status);
        }
        client.close();
      });
      const { nextCursor } = (await as.get('/system/change-api?limit=100&kind=key')).body.data as {
        nextCursor: string;
      };
      const follow = `/system/change-api?kind=key&wait=8&after=${nextCursor}`;
      const followed = fetch(`${api.baseUrl}${follow}`, { headers: { authorization } });
      await until(() => answers.length > 50);
      const [stopping] = replicas.splice(0, 1);
      expect(await stopping!.stop()).toBe(0);
      expect(await stateOf('replica1')).toContain('DOWN');
      const before = answers.length;
      await until(() => answers.length > before + 50);
      isOver = true;
      await Promise.all(clients);
      expect(answers.filter((status) => status !== 200)).toEqual([]);
      await (await followed).body?.cancel();
      expect((await followed).status).toBe(200);
    });

    it('a replica that is drained by hand gets no new requests, and gets them again when it is put back', async () => {
      const before = replicas[0]!.printed.length;
      await tell('set server tenantry/replica2 state drain');
      expect(await stateOf('replica2')).toContain('DRAIN');
      const late = new ApiClient(api.baseUrl);
      expect((await late.get('/')).status).toBe(503);
      expect(replicas[0]!.printed.slice(before)).not.toContain('"path":"/"');
      await tell('set server tenantry/replica2 state ready');
      await until(async () => (await late.get('/')).status === 200);
      late.close();
    });

    it('a client cannot make up its address, and does not reach the probes', async () => {
      const headers = { 'x-request-id': 'made-up', 'x-forwarded-for': '203.0.113.7' };
      await api.get('/nowhere', headers);
      const line = () => replicas[0]!.printed.split('\n').find((each) => each.includes('"made-up"'));
      await until(() => line() !== undefined);
      expect(JSON.parse(line()!)).toMatchObject({ address: '127.0.0.1' });
      expect((await fetch(`${api.baseUrl}/health/ready`)).status).toBe(404);
    });
  });
});
