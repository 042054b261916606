import { type ApiClient, aTenant } from '../../src/server/testing';
import { expectInvalid } from '../support/refusals';
import { textField, type FieldRule } from '../support/field-rules';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/tenant-api';

const notQuota = [-2, 1.5, '1', true, [], {}, 2147483648, 1e300];
const notDay = [
  ...'2026-1-1 2026-02-30 2025-02-29 2026-13-01 0000-01-01 20260101'.split(' '),
  ...['2026-01-01 ', '', 5, true, [], {}],
];
const days = ['2026-01-01', '2024-02-29', '0001-01-01', '9999-12-31'];
const opaque = [
  ...['', '  kept  ', '{"a":"\\"\'"}\r\n\t', '😀 emoji \u2028 line \u0001'],
  ...['规则'.repeat(10_000), 'x'.repeat(65_536)],
];
const notOpaque = ['x'.repeat(65_537), '规'.repeat(21_846), '\ud800', 'nul\0', 5, true, [], {}];
const numbers = (length: number, separator: string) => Array.from({ length }, (_, n) => n).join(separator);

const quota = (name: string): FieldRule => ({
  ...{ field: `quotaBo.${name}`, reset: 0, kept: [0, 1, -1, 2147483647], refused: notQuota },
});
const rule = (name: string): FieldRule => ({
  ...{ field: `ruleBo.${name}`, reset: null, kept: opaque, refused: notOpaque },
});
const name = textField('tenantName', 128, { reset: 'a tenant' });

const RULES: readonly FieldRule[] = [
  { ...name, kept: name.kept.slice(1), changed: [['  a  ', 'a']], refused: [...name.refused, '', '  '] },
  textField('companyName', 128),
  textField('contactUserName', 64),
  textField('contactPhone', 64),
  { field: 'startTime', reset: null, kept: days, refused: notDay },
  { field: 'endTime', reset: null, kept: days, refused: notDay },
  { field: 'status', reset: '0', kept: ['0', '1'], refused: ['2', '', 0, 1, true, [], {}] },
  { field: 'accountCount', reset: -1, kept: [-1, 0, 5, 2147483647], refused: notQuota },
  { field: 'tenantParent', reset: '000000', kept: ['000000'], refused: [0, true, [], {}, '0'.repeat(21)] },
  {
    ...{ field: 'packageBo.menuIds', reset: '', kept: ['', '1', '1, 2,3 , 4', ' 1,', numbers(10_000, ', ')] },
    refused: ['a', '1;2', '1\n2', '-1', 5, true, [], [1], {}, numbers(10_001, ',')],
  },
  ...'enterpriseQuery annualReportQuery chainReport businessReport riskReport merchant'.split(' ').map(quota),
  ...'modelZr modelPf modelEd catalogZr catalogPf catalogEd catalogRw'.split(' ').map(rule),
];

const bodyWith = (field: string, value: unknown): Record<string, unknown> => {
  const [outer = '', inner] = field.split('.');
  return { [outer]: inner === undefined ? value : { [inner]: value } };
};

describe('tenant fields', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as({ roles: ['superadmin'] });
  });

  const read = async (id: string, field: string): Promise<unknown> => {
    const tenant: unknown = (await api.get(`${PATH}/${id}`)).body.data;
    return field.split('.').reduce((value, key) => (value as Record<string, unknown>)[key], tenant);
  };

  describe.each(RULES)('$field', ({ field, reset, kept, changed = [], refused }) => {
    it('comes back as it was sent, on create and on update, and is reset when not sent or null', async () => {
      for (const [sent, expected] of [...kept.map((value) => [value, value] as const), ...changed]) {
        const { id } = await aTenant(api, bodyWith(field, sent));
        const put = async (more: object) => {
          expect((await api.put(PATH, { id, tenantName: 'a tenant', ...more })).status).toBe(200);
          return read(id, field);
        };
        expect(await read(id, field)).toBe(expected);
        expect(await put({})).toBe(reset);
        expect(await put(bodyWith(field, sent))).toBe(expected);
      }
      if (field === 'tenantName') return;
      const { id } = await aTenant(api, bodyWith(field, null));
      expect(await read(id, field)).toBe(reset);
    });

    it('refuses what it cannot be, names itself, and changes nothing', async () => {
      const { id } = await aTenant(api);
      const before = (await api.get(`${PATH}/${id}`)).text;
      for (const value of refused) {
        const body = { tenantName: 'x', ...bodyWith(field, value) };
        for (const answer of [await api.post(PATH, body), await api.put(PATH, { id, ...body })]) {
          expectInvalid(answer, field, value);
        }
      }
      expect((await api.get(`${PATH}/${id}`)).text).toBe(before);
    });
  });

  it.each(['packageBo', 'quotaBo', 'ruleBo'])(
    '%s refuses what is no object, and takes null as not sent',
    async (field) => {
      for (const value of ['text', 5, true, [], [{}]]) {
        const answer = await api.post(PATH, { tenantName: 'x', [field]: value });
        expectInvalid(answer, field, value);
      }
      await aTenant(api, { [field]: null });
      await aTenant(api, { [field]: { unknown: 1 } });
    },
  );

  it('refuses an end before the start, and takes one day', async () => {
    const answer = await api.post(PATH, { tenantName: 'x', startTime: '2026-02-02', endTime: '2026-02-01' });
    expectInvalid(answer, 'endTime');
    await aTenant(api, { startTime: '2026-02-02', endTime: '2026-02-02' });
  });

  it('holds three rules of 64 KB at once', async () => {
    const ruleBo = {
      modelZr: 'a'.repeat(65_536),
      modelPf: '规则'.repeat(10_000),
      catalogRw: '"'.repeat(30_000),
    };
    const tenant = await aTenant(api, { ruleBo });
    expect(tenant.ruleBo).toMatchObject(ruleBo);
  });
});
