import { PagedList } from '../../src/database/page';
import type { Key } from '../../src/database/scoped-table';
import { aDept, aTenant, type ApiClient } from '../../src/server/testing';
import { expectRefused } from '../support/refusals';
import { aTenantWith } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

const DEPTS = '/system/dept-api';
const CHANGES = '/system/change-api';
const MOST = Number.MAX_SAFE_INTEGER;
const [LEAST_INT, MOST_INT] = [-(2 ** 31) + 1, 2 ** 31 - 1];
type Part = 'int' | 'long' | 'digits';
const LARGEST = { int: MOST_INT, long: MOST, digits: '9'.repeat(19) };

/** Keys that no row has, for a list whose keys have these parts. */
function wrongKeys(parts: readonly Part[]): unknown[] {
  const wrong = ['x', '', 'a\0b', '1 OR 1=1', null, true, 1.5, 1e300, -(2 ** 53), [1], {}, '9'.repeat(20)];
  const largest = parts.map((part) => LARGEST[part]);
  const others = parts.flatMap((part, at) =>
    [...wrong, ...(part === 'int' ? [MOST_INT + 1, -MOST] : part === 'long' ? [-1, '1'] : [1])].map((each) =>
      largest.with(at, each as never),
    ),
  );
  return [...others, [], [...largest, 1], largest.slice(1), 'x', null, {}, 7, { 0: 1, length: parts.length }];
}

describe('made-up cursors', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;
  let deptId: number;
  let when: string;

  beforeAll(async () => {
    tenantId = await aTenantWith(service.dataSource, { riskReport: 10 });
    api = service.as({ tenantId });
    deptId = await aDept(api);
    for (const deptName of ['a', 'b']) {
      await aDept(api, { parentId: deptId, deptName });
      await aTenant(api);
      await api.patch(`${DEPTS}/${deptId}`, { deptName });
      await api.post('/system/user-api', { username: `${deptName}${tenantId}`, password: 'a-long-password' });
      await api.post('/system/quota-api/riskReport/use', { key: deptName });
      await api.post('/system/webhook-api', { url: 'https://93.184.216.34', status: '1' });
    }
    when = new Date().toISOString();
  });

  const lists: [path: () => string, name: string, listed: () => unknown[], ...parts: Part[]][] = [
    [() => `${DEPTS}?limit=1`, 'dept', () => [tenantId, []], 'int', 'long'],
    [() => `${DEPTS}/${deptId}/history?limit=1`, 'history', () => ['dept', tenantId, deptId], 'long', 'int'],
    [
      () => `${DEPTS}?limit=1&parentId=${deptId}&asOf=${when}`,
      'past-dept',
      () => [
        tenantId,
        [
          ['asOf', when],
          ['parentId', deptId],
        ],
      ],
      ...(['long', 'int', 'long'] as const),
    ],
    [
      () => `${DEPTS}/diff?limit=1&from=0`,
      'dept-diff',
      () => [tenantId, [['from', '0']]],
      ...(['long', 'long', 'int', 'long'] as const),
    ],
    [() => '/system/tenant-api?limit=1', 'tenant', () => [tenantId, []], 'digits'],
    [() => '/system/user-api?limit=1', 'user', () => [tenantId, []], 'long'],
    [() => '/system/quota-api/riskReport/entries?limit=1', 'quota', () => [tenantId, 'riskReport'], 'long'],
    [() => '/system/webhook-api?limit=1', 'webhook', () => [tenantId], 'long'],
    [() => `${CHANGES}?limit=1`, 'change', () => [tenantId], 'long', 'int', 'long', 'int'],
    [
      () => `${CHANGES}?limit=1&order=desc`,
      'change',
      () => ['desc', tenantId, [['order', 'desc']]],
      ...(['long', 'int', 'long', 'int'] as const),
    ],
  ];

  it.each(lists.map((list) => [list[1], list] as const))(
    'a made-up cursor with a right digest is refused or harmless in the list %s',
    async (_, list) => {
      const [path, name, listed, ...parts] = list;
      const parameter = name === 'change' ? 'after' : 'cursor';
      const first = (await api.get(path())).body.data as { nextCursor: string };
      const seal = (key: unknown) => new PagedList(name, parts).seal(listed(), key as Key);
      const go = (cursor: string) => api.get(`${path()}&${parameter}=${cursor}`);
      const key = JSON.parse(Buffer.from(first.nextCursor.split('.')[0]!, 'base64url').toString()) as Key;
      expect(seal(key)).toBe(first.nextCursor);
      for (const each of wrongKeys(parts)) expectRefused(await go(seal(each)), 400, 'INVALID_INPUT');
      const least = { int: LEAST_INT, long: 0, digits: '0' };
      for (const limits of [LARGEST, least]) {
        const { status } = await go(seal(parts.map((part) => limits[part])));
        expect(status).toBeLessThan(500);
      }
    },
  );

  it('a change cursor that version 0.3 has signed is answered with CURSOR_GONE', async () => {
    const { nextCursor } = (await api.get(`${CHANGES}?after=now`)).body.data as { nextCursor: string };
    const old = `${nextCursor.split('.')[0]!}.${'x'.repeat(22)}`;
    expectRefused(await api.get(`${CHANGES}?after=${old}`), 410, 'CURSOR_GONE');
  });
});
