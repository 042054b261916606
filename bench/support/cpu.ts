import type { Side } from './compare';
import { load, type Load } from './load';
import type { ServerProcess } from './server-process';

/** So much CPU time a round takes about: the kernel counts in steps of 10 ms. */
const ROUND_MS = 600;

export interface CpuLoad extends Omit<Load, 'port' | 'requests'> {
  /** Sent first, so that the code is compiled and the pools are filled. */
  readonly warmUp: number;
}

/** A side whose cost is the server's CPU time per request, in microseconds; the dearer a request, the fewer a round has. */
export async function cpuSide(server: ServerProcess, { warmUp, ...work }: CpuLoad): Promise<Side> {
  const cpuOf = async (requests: number): Promise<number> => {
    const before = server.cpuMs();
    await load({ ...work, port: server.port, requests });
    return server.cpuMs() - before;
  };
  await cpuOf(warmUp);
  const perRequest = (await cpuOf(warmUp)) / warmUp;
  const requests = Math.max(work.connections, Math.ceil(ROUND_MS / perRequest));
  return async () => ((await cpuOf(requests)) * 1000) / requests;
}
