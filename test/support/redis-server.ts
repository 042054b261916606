import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from './free-port';
import { runServer, type ServerProcess } from './server-process';

const REDIS = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path));

export const redisIsInstalled = REDIS !== undefined;

/** A Redis on loopback that keeps nothing, for tests that let it die and come back. */
export async function startRedis(): Promise<ServerProcess> {
  if (REDIS === undefined) throw new Error('redis-server is not installed (Debian: redis-server).');
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return runServer({
    ...{ url: `redis://127.0.0.1:${port}`, port },
    spawn: () => spawn(REDIS, settings, { stdio: 'ignore' }),
    ask: async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    },
    remove: () => undefined,
  });
}
