import { aDept } from '../../src/server/testing';
import { textField, type FieldRule } from '../support/field-rules';
import { expectInvalid } from '../support/refusals';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/dept-api';

const longMail = (host: number) => `${'a'.repeat(60)}@${'b'.repeat(host)}.cn`;
const NO_NUMBER = [1.5, 'x', true, [], {}];

const RULES: readonly FieldRule[] = [
  textField('deptName', 64, { reset: '' }),
  textField('leader', 64),
  textField('phone', 32),
  {
    ...{ field: 'email', reset: null, kept: ['', 'a@b.cn', longMail(35)], changed: [[' a@b.cn ', 'a@b.cn']] },
    refused: ['a', 'a@', '@b.cn', 'a b@c.cn', '\ud800@a.co', 'a\0@b.cn', longMail(37), 5, true, [], {}],
  },
  {
    ...{ field: 'orderNum', reset: 0, kept: [0, 1, -1, 2147483647, -2147483648] },
    refused: [...NO_NUMBER, '1', 2147483648, -2147483649, 1e300],
  },
  { field: 'status', reset: '0', kept: ['0', '1'], refused: ['2', '', ' 1', 0, 1, true, [], {}, ['0']] },
  {
    ...{ field: 'parentId', reset: 0, kept: [0], changed: [['0', 0]] },
    refused: [...NO_NUMBER, -1, '', ' 1', '1e3', [0], 9007199254740992, '9007199254740992'],
  },
  { field: 'tenantId', reset: '000000', kept: ['000000'], refused: [0, true, [], {}, '0'.repeat(65)] },
];

describe('department fields', () => {
  const service = ServiceUnderTest.use();

  describe.each(RULES)('$field', ({ field, reset, kept, changed = [], refused }) => {
    const read = async (id: number) =>
      ((await service.as().get(`${PATH}/${id}`)).body.data as Record<string, unknown>)[field];

    it('comes back as it was sent, on create and on update, and is reset when not sent or null', async () => {
      const api = service.as();
      expect(await read(await aDept(api, { [field]: null }))).toEqual(reset);
      for (const [sent, expected] of [...kept.map((value) => [value, value] as const), ...changed]) {
        const deptId = await aDept(api, { [field]: sent });
        expect(await read(deptId)).toEqual(expected);
        expect((await api.put(PATH, { deptId })).status).toBe(200);
        expect(await read(deptId)).toEqual(reset);
        expect((await api.put(PATH, { deptId, [field]: sent })).status).toBe(200);
        expect(await read(deptId)).toEqual(expected);
      }
    });

    it('refuses what it cannot be, names itself, and changes nothing', async () => {
      const api = service.as();
      const deptId = await aDept(api, { [field]: kept[0] });
      const before = (await api.get(`${PATH}/${deptId}`)).text;
      for (const value of refused) {
        expectInvalid(await api.post(PATH, { [field]: value }), field, value);
        expectInvalid(await api.put(PATH, { deptId, [field]: value }), field, value);
      }
      expect((await api.get(`${PATH}/${deptId}`)).text).toBe(before);
    });
  });
});
