import { mintToken } from '../../src/server/testing';
import { cpuMs } from '../support/process-cpu';
import { MeasuredService, say } from './support/measured-service';

const TENANTS = '/system/tenant-api';
const TIMES = 40;
const objects = (count: number) => `[${'{},'.repeat(count)}0]`;
const lists = `[${'[],'.repeat(80_000)}0]`;

/** What a body may cost the service in CPU before it is refused. Of that, 19,000 keys cost about 10 ms in JSON.parse alone. */
describe('a body that nobody wants', () => {
  const service = MeasuredService.use({ LOG_LEVEL: 'error' });

  it.each([
    ['240 KB of lists without a token', null, '/system/dept-api', lists, 401, 4],
    ['240 KB of lists to sign in', null, '/auth/login', lists, 413, 4],
    ['240 KB of lists', mintToken(), '/system/dept-api', lists, 400, 6],
    ['19,000 objects as quotas', mintToken(), TENANTS, `{"quotaBo":${objects(19_000)}}`, 400, 20],
    ['60,000 objects as quotas', mintToken(), TENANTS, `{"quotaBo":${objects(60_000)}}`, 400, 6],
    ['60,000 objects as a quota', mintToken(), TENANTS, `{"quotaBo":{"pf":${objects(60_000)}}}`, 400, 6],
    ['60,000 objects as a name', mintToken(), TENANTS, `{"tenantName":${objects(60_000)}}`, 400, 6],
    ['60,000 objects under another key', mintToken(), TENANTS, `{"x":${objects(60_000)}}`, 400, 6],
    ['19,000 other keys', mintToken(), TENANTS, keys(19_000), 400, 20],
  ])('a refused body costs little CPU: %s', async (name, token, path, body, status, bound) => {
    const { anonymous } = service.child;
    const client = token === null ? anonymous : anonymous.as(token);
    for (let n = 0; n < 5; n += 1) expect((await client.post(path, body)).status).toBe(status);
    const before = cpuMs(service.pid);
    for (let n = 0; n < TIMES; n += 1) await client.post(path, body);
    const cost = (cpuMs(service.pid) - before) / TIMES;
    say(`${name}: ${cost.toFixed(1)} ms of CPU`);
    expect(cost).toBeLessThan(bound);
  });
});

function keys(count: number): string {
  return `{${Array.from({ length: count }, (_, n) => `"k${n}":0`).join()}}`;
}
