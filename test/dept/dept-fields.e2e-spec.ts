import { itKeepsRules, textField, type FieldRule } from '../support/field-rules';
import { ServiceUnderTest } from '../support/service-under-test';

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

  itKeepsRules({ api: () => service.as(), path: '/system/dept-api', id: 'deptId' }, RULES);
});
