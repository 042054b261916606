import { type ApiClient, aTenant } from '../../src/server/testing';
import { expectInvalid } from '../support/refusals';
import { itKeepsRules, textField, type FieldRule } from '../support/field-rules';
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
  {
    ...name,
    kept: name.kept.slice(1),
    changed: [['  a  ', 'a']],
    refused: [...name.refused, undefined, null, '', '  '],
  },
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

describe('tenant fields', () => {
  const service = ServiceUnderTest.use();
  let api: ApiClient;

  beforeAll(() => {
    api = service.as({ roles: ['superadmin'] });
  });

  const tenants = { api: () => api, path: PATH, id: 'id', needed: { tenantName: 'a tenant' } };
  itKeepsRules(tenants, RULES);

  it.each(['packageBo', 'quotaBo', 'ruleBo'])(
    '%s refuses what is no object, and takes null as not sent',
    async (field) => {
      for (const value of ['text', 5, true, [], [{}]]) {
        expectInvalid(await api.post(PATH, { tenantName: 'x', [field]: value }), field, value);
      }
      await aTenant(api, { [field]: null });
      await aTenant(api, { [field]: { unknown: 1 } });
    },
  );

  it('a tenant refuses an end before the start, and takes one day', async () => {
    const answer = await api.post(PATH, { tenantName: 'x', startTime: '2026-02-02', endTime: '2026-02-01' });
    expectInvalid(answer, 'endTime');
    await aTenant(api, { startTime: '2026-02-02', endTime: '2026-02-02' });
  });

  it('a tenant holds three rules of 64 KB at once', async () => {
    const ruleBo = {
      modelZr: 'a'.repeat(65_536),
      modelPf: '规则'.repeat(10_000),
      catalogRw: '"'.repeat(30_000),
    };
    const tenant = await aTenant(api, { ruleBo });
    expect(tenant.ruleBo).toMatchObject(ruleBo);
  });
});
