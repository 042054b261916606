import type { TenantDto } from '../../src/tenant/tenant-view.dto';
import { type ApiClient, aTenant } from '../../src/server/testing';
import { HandClock } from '../support/hand-clock';
import { ServiceUnderTest } from '../support/service-under-test';

const PATH = '/system/tenant-api';

interface ListPage {
  rows: { tenantId: string; tenantName: string; state: string; hasChildren: boolean }[];
  nextCursor: string | null;
  hasMore: boolean;
}

describe('the list of tenants', () => {
  const clock = new HandClock();
  const service = ServiceUnderTest.use({}, clock);
  let owner: ApiClient;
  let top: Readonly<TenantDto>;

  beforeAll(() => {
    clock.set('2026-06-15T04:00:00Z');
  });
  beforeEach(async () => {
    top = await aTenant(service.as(), { tenantName: 'top' });
    owner = service.as({ tenantId: top.tenantId });
  });

  async function list(api: ApiClient, query: Record<string, string | number> = {}): Promise<ListPage> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const answer = await api.get(`${PATH}?${search.toString()}`);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    return answer.body.data as ListPage;
  }
  const namesOf = ({ rows }: ListPage) => rows.map(({ tenantName }) => tenantName);

  it('the list holds the own tenant and all below it, and nothing else', async () => {
    const child = await aTenant(owner, { tenantName: 'child' });
    await aTenant(owner, { tenantName: 'grandchild', tenantParent: child.tenantId });
    await aTenant(service.as(), { tenantName: 'beside' });
    expect(namesOf(await list(owner))).toEqual(['top', 'child', 'grandchild']);
    expect((await list(owner)).rows.map(({ hasChildren }) => hasChildren)).toEqual([true, true, false]);
    expect(namesOf(await list(service.as({ tenantId: child.tenantId })))).toEqual(['child', 'grandchild']);
    const platform = namesOf(await list(service.as(), { limit: 500 }));
    expect(platform).toEqual(expect.arrayContaining(['平台', 'top', 'child', 'beside']));
  });

  it('the list shows each tenant without what can be long', async () => {
    const { id } = await aTenant(owner, { tenantName: 'x', companyName: 'y', ruleBo: { modelZr: 'z' } });
    const {
      packageBo: _,
      quotaBo: __,
      ruleBo: ___,
      ...short
    } = (await owner.get(`${PATH}/${id}`)).body.data as Readonly<TenantDto>;
    expect((await list(owner, { tenantName: 'x' })).rows).toEqual([
      { ...short, state: 'ACTIVE', hasChildren: false },
    ]);
  });

  it('the list of tenants is filtered by parent, name, state and end, and by all of them together', async () => {
    const make = (tenantName: string, more: object = {}) => aTenant(owner, { tenantName, ...more });
    const open = await make('开放 100%');
    await make('active', { startTime: '2026-06-15', endTime: '2026-06-15' });
    await make('expired', { endTime: '2026-06-14' });
    await make('future', { startTime: '2026-06-16' });
    await make('disabled', { status: '1', endTime: '2026-01-01' });
    await aTenant(owner, { tenantName: 'below', tenantParent: open.tenantId });
    const byState = async (state: string) => namesOf(await list(owner, { state }));
    expect(await byState('ACTIVE')).toEqual(['top', '开放 100%', 'active', 'below']);
    expect(await byState('EXPIRED')).toEqual(['expired']);
    expect(await byState('NOT_STARTED')).toEqual(['future']);
    expect(await byState('DISABLED')).toEqual(['disabled']);
    expect(namesOf(await list(owner, { expiresBefore: '2026-06-15' }))).toEqual(['expired', 'disabled']);
    expect(namesOf(await list(owner, { expiresBefore: '2026-06-16', state: 'ACTIVE' }))).toEqual(['active']);
    expect(namesOf(await list(owner, { tenantParent: open.tenantId }))).toEqual(['below']);
    expect(namesOf(await list(owner, { tenantParent: top.tenantId, tenantName: 'ed' }))).toEqual([
      'expired',
      'disabled',
    ]);
    expect(namesOf(await list(owner, { tenantName: '%' }))).toEqual(['开放 100%']);
    expect(namesOf(await list(owner, { tenantName: '_' }))).toEqual([]);
    expect(namesOf(await list(service.as(), { tenantParent: top.tenantId, state: 'EXPIRED' }))).toEqual([
      'expired',
    ]);
    for (const row of (await list(owner)).rows) {
      expect([row.tenantName, await byState(row.state)]).toEqual([
        row.tenantName,
        expect.arrayContaining([row.tenantName]),
      ]);
    }
  });

  it('the list finds one tenant by its code, at or below the own', async () => {
    const below = await aTenant(owner, { tenantName: 'by code' });
    const elsewhere = await aTenant(service.as());
    expect(namesOf(await list(owner, { tenantId: below.tenantId }))).toEqual(['by code']);
    expect(namesOf(await list(owner, { tenantId: top.tenantId }))).toEqual([top.tenantName]);
    expect(namesOf(await list(service.as(), { tenantId: below.tenantId }))).toEqual(['by code']);
    expect(namesOf(await list(owner, { tenantId: elsewhere.tenantId }))).toEqual([]);
    expect(namesOf(await list(owner, { tenantId: below.tenantId, tenantName: 'x' }))).toEqual([]);
  });

  it('the list of tenants comes in pages that hold every tenant once, with cursors of its own', async () => {
    for (let n = 0; n < 5; n += 1) await aTenant(owner, { tenantName: `t${n}` });
    for (const api of [owner, service.as()]) {
      const query = { tenantParent: top.tenantId, limit: 2 };
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: ListPage = await list(api, cursor ? { ...query, cursor } : query);
        found.push(...namesOf(page));
        cursor = page.nextCursor;
      }
      expect(found).toEqual(['t0', 't1', 't2', 't3', 't4']);
    }
    const { nextCursor } = await list(owner, { limit: 2 });
    expect((await list(owner, { limit: 9, cursor: nextCursor! })).rows).toHaveLength(4);
    expect((await service.as().get(`${PATH}?cursor=${nextCursor!}`)).status).toBe(400);
    expect((await owner.get(`${PATH}?cursor=${nextCursor!}x`)).status).toBe(400);
  });

  it('the list of tenants refuses what is not a filter of its form', async () => {
    const wrong = 'state=x state=DELETED expiresBefore=2026-02-30 tenantParent=总 tenantId=总 limit=0';
    for (const query of wrong.split(' ')) {
      expect([query, (await owner.get(`${PATH}?${query}`)).status]).toEqual([query, 400]);
    }
  });
});
