import type { ApiClient } from '../../src/server/testing';
import { expectInvalid } from './refusals';
import { onServer } from './test-database';

/** What a field takes, what it becomes without a value, and what it refuses. */
export interface FieldRule {
  /** With a dot, a field of an object. */
  readonly field: string;
  /** Read back when it is not sent, or null. */
  readonly reset: unknown;
  readonly kept: readonly unknown[];
  readonly changed?: readonly (readonly [sent: unknown, read: unknown])[];
  readonly refused: readonly unknown[];
}

const NO_TEXT = [5, true, [], ['a'], {}, 'nul\0', '\ud800'];

/** A text of at most so many characters, whose blanks are cut off. */
export function textField(field: string, max: number, more: Partial<FieldRule> = {}): FieldRule {
  const kept = ['', 'a'.repeat(max), '部'.repeat(max), '😀'.repeat(max), '"\'\\%_;--', 'x\ny', '+86 21'];
  const changed = [
    ['  a  ', 'a'],
    ['   ', ''],
  ] as const;
  const refused = ['a'.repeat(max + 1), '😀'.repeat(max + 1), ...NO_TEXT];
  return { field, reset: null, kept, changed, refused, ...more };
}

/** A resource whose fields have rules. */
interface Resource {
  readonly api: () => ApiClient;
  readonly path: string;
  /** The field that names it in a PUT. */
  readonly id: string;
  /** What every body must have. */
  readonly needed?: Readonly<Record<string, unknown>>;
}

/** Holds every rule on create and on update. */
export function itKeepsRules({ api, path, id, needed = {} }: Resource, rules: readonly FieldRule[]): void {
  describe.each(rules)('the field $field', ({ field, reset, kept, changed = [], refused }) => {
    const [outer = '', inner] = field.split('.');
    const bodyWith = (value: unknown) => ({
      ...needed,
      [outer]: inner === undefined ? value : { [inner]: value },
    });
    const create = async (body: object): Promise<string> => {
      const { status, headers } = await api().post(path, body);
      expect(status).toBe(200);
      return headers.location!;
    };
    const idIn = (location: string) => location.slice(path.length + 1);
    const read = async (location: string): Promise<unknown> => {
      const data: unknown = (await api().get(location)).body.data;
      return field.split('.').reduce((value, key) => (value as Record<string, unknown>)[key], data);
    };

    it('a field comes back as it was sent, on create and on update, and is reset when not sent or null', async () => {
      let made = '';
      const put = async (body: object) => {
        expect((await api().put(path, { [id]: idIn(made), ...body })).status).toBe(200);
        return read(made);
      };
      const all = [...kept.map((value) => [value, value] as const), ...changed];
      for (const [sent, expected] of all) {
        made = await create(bodyWith(sent));
        expect(await read(made)).toEqual(expected);
      }
      expect(await put(needed)).toEqual(reset);
      for (const [sent, expected] of all) expect(await put(bodyWith(sent))).toEqual(expected);
      if (!(field in needed)) expect(await read(await create(bodyWith(null)))).toEqual(reset);
    });

    // It never comes to the database, so it need not be tried on each.
    if (onServer) return;
    it('a field refuses what it cannot be, names itself, and changes nothing', async () => {
      const made = await create(bodyWith(kept[0]));
      const before = (await api().get(made)).text;
      for (const value of refused) {
        expectInvalid(await api().post(path, bodyWith(value)), field, value);
        expectInvalid(await api().put(path, { [id]: idIn(made), ...bodyWith(value) }), field, value);
      }
      expect((await api().get(made)).text).toBe(before);
    });
  });
}
