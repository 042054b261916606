import { RequiredIdsField } from './id-fields';
import { IntegerField, ObjectField, RolesField, TextField } from './fields';
import { checkedAs } from './checked-as';
import type { Refusal } from '../errors/refusal';

class InnerDto {
  @IntegerField()
  count?: number;
}

class OuterDto {
  @TextField(5)
  name?: string;

  @IntegerField()
  order?: number;

  @ObjectField(() => InnerDto)
  inner?: InnerDto;

  @RolesField()
  roles?: string[];

  @RequiredIdsField(3)
  ids!: number[];
}

/** Fails the test when anybody looks into it. */
const closed = (): object =>
  new Proxy(
    {},
    { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail },
  );

function fail(): never {
  throw new Error('This was looked into.');
}

describe('the check of a body', () => {
  const check = (body: unknown) => checkedAs(OuterDto, body);
  const fieldsOf = (body: unknown) =>
    check(body).then(
      () => [],
      (refusal: unknown) => (refusal as Refusal).details.fields?.map(({ field }) => field),
    );

  it('the check of a body gives an instance with what its class knows', async () => {
    const body = {
      name: ' a ',
      order: 1,
      inner: { count: 2, unknown: {} },
      roles: ['member'],
      ids: ['7'],
      unknown: 1,
    };
    const checked = await check(body);
    expect(checked).toBeInstanceOf(OuterDto);
    expect(checked).toEqual({ name: 'a', order: 1, inner: { count: 2 }, roles: ['member'], ids: [7] });
    expect(await check({ ids: [1], inner: null })).toEqual({ ids: [1], inner: null });
  });

  it('the check of a body does not look into what the class does not know', async () => {
    const nested = { count: 1, unknown: [closed()] };
    expect(await check({ ids: [1], unknown: closed(), inner: nested })).toEqual({
      ids: [1],
      inner: { count: 1 },
    });
    expect(await fieldsOf({ ids: [1], ['__proto__']: closed(), constructor: closed() })).toEqual([]);
  });

  it.each([
    ['a text', { name: [closed()] }, 'name'],
    ['a text, in an object', { name: { a: closed() } }, 'name'],
    ['an integer', { order: [closed()] }, 'order'],
    ['an object', { inner: [closed()] }, 'inner'],
    ['an integer of an object', { inner: { count: [closed()] } }, 'inner.count'],
    ['a list of texts', { roles: [[closed()]] }, 'roles'],
    ['a list of texts, in an object', { roles: { 0: closed() } }, 'roles'],
    ['a list of ids', { ids: [{ a: closed() }] }, 'ids'],
  ])('the check of a body refuses what is not %s without looking into it', async (_, body, field) => {
    expect(await fieldsOf({ ids: [1], ...body })).toEqual([field]);
  });
});
