import { aDept, type ApiClient } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

interface FieldRule {
  readonly field: string;
  readonly reset: unknown;
  /** Sent and read back the same. */
  readonly kept: readonly unknown[];
  /** Sent and read back otherwise. */
  readonly changed?: readonly (readonly [unknown, unknown])[];
  readonly refused: readonly unknown[];
}

const text = (max: number) => ['a'.repeat(max), '部'.repeat(max), '😀'.repeat(max), '"\'\\%_;--', 'x\ny'];
const notText = (max: number) => [
  'a'.repeat(max + 1),
  '😀'.repeat(max + 1),
  5,
  true,
  [],
  ['a'],
  {},
  'nul\0',
  '\ud800',
];
const trimmed = [
  ['  a  ', 'a'],
  ['   ', ''],
] as const;

const RULES: readonly FieldRule[] = [
  { field: 'deptName', reset: '', kept: ['', ...text(64)], changed: trimmed, refused: notText(64) },
  { field: 'leader', reset: null, kept: ['', ...text(64)], changed: trimmed, refused: notText(64) },
  {
    field: 'phone',
    reset: null,
    kept: ['', '13800138000', '+86 21', ...text(32)],
    changed: trimmed,
    refused: notText(32),
  },
  {
    field: 'email',
    reset: null,
    kept: ['', 'a@b.cn', `${'a'.repeat(60)}@${'b'.repeat(35)}.cn`],
    changed: [[' a@b.cn ', 'a@b.cn']],
    refused: [
      'a',
      'a@',
      '@b.cn',
      'a b@c.cn',
      '\ud800',
      '\ud800@a.co',
      'a\0@b.cn',
      `${'a'.repeat(60)}@${'b'.repeat(37)}.cn`,
      5,
      true,
      [],
      {},
    ],
  },
  {
    field: 'orderNum',
    reset: 0,
    kept: [0, 1, -1, 2147483647, -2147483648],
    refused: [1.5, '1', 'x', true, [], {}, 2147483648, -2147483649, 1e300],
  },
  { field: 'status', reset: '0', kept: ['0', '1'], refused: ['2', '', ' 1', 0, 1, true, [], {}, ['0']] },
  {
    field: 'parentId',
    reset: 0,
    kept: [0],
    changed: [['0', 0]],
    refused: [-1, 1.5, 'x', '', ' 1', '1e3', true, [], [0], {}, 9007199254740992, '9007199254740992'],
  },
  { field: 'tenantId', reset: '000000', kept: ['000000'], refused: [0, true, [], {}, '0'.repeat(65)] },
];

describe.each(RULES)('department field $field', ({ field, reset, kept, changed = [], refused }) => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as();
  });

  const read = async (id: number) =>
    ((await api.get(`${PATH}/${id}`)).body.data as Record<string, unknown>)[field];

  it('has a default, which null and a full replacement give it too', async () => {
    expect(await read(await aDept(api, {}))).toEqual(reset);
    expect(await read(await aDept(api, { [field]: null }))).toEqual(reset);
    const deptId = await aDept(api, { [field]: kept.at(-1) });
    expect((await api.put(PATH, { deptId })).status).toBe(200);
    expect(await read(deptId)).toEqual(reset);
  });

  it('comes back as it was sent, on create and on update', async () => {
    for (const [sent, expected] of [...kept.map((value) => [value, value] as const), ...changed]) {
      const deptId = await aDept(api, { [field]: sent });
      expect(await read(deptId)).toEqual(expected);
      await api.put(PATH, { deptId, deptName: 'other', orderNum: 9 });
      expect((await api.put(PATH, { deptId, [field]: sent })).status).toBe(200);
      expect(await read(deptId)).toEqual(expected);
    }
  });

  it('refuses what it cannot be, names itself, and changes nothing', async () => {
    const deptId = await aDept(api, { [field]: kept[0] });
    const before = (await api.get(`${PATH}/${deptId}`)).text;
    for (const value of refused) {
      for (const answer of [
        await api.post(PATH, { [field]: value }),
        await api.put(PATH, { deptId, [field]: value }),
      ]) {
        expect([value, answer.status, answer.refusal.reason]).toEqual([value, 400, 'INVALID_INPUT']);
        expect(answer.refusal.fields?.[0]?.field).toBe(field);
      }
    }
    expect((await api.get(`${PATH}/${deptId}`)).text).toBe(before);
  });
});
