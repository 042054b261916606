import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ObjectLiteral } from 'typeorm';
import { ScopedTable, type FindOptions } from '../../src/database/scoped-table';
import { DeptListService } from '../../src/dept/dept-list.service';
import { aDept, type ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const PATH = '/system/dept-api';
const COUNT = 5000;

describe('large answers beside small ones', () => {
  const service = ServiceUnderTest.use();
  const large: ApiClient[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 2; n += 1) {
      const { tenantId, api } = await freshTenant(service);
      const top = { tenantId, parentId: 0, ancestors: '0', depth: 1 };
      await deptRows(service.dataSource, COUNT, (at) => ({ ...top, deptName: `部门 "${at}"` }));
      large.push(api);
    }
  });
  afterEach(() => jest.restoreAllMocks());

  it('the answer of a large tree is made and sent in many turns of the event loop', async () => {
    const lists = service.app.get(DeptListService);
    const tree = lists.tree.bind(lists);
    let [turns, isGiven] = [0, false];
    const count = (): void => {
      if (isGiven) return;
      turns += 1;
      setImmediate(count);
    };
    jest.spyOn(lists, 'tree').mockImplementation(async (...args) => {
      const found = await tree(...args);
      setImmediate(count);
      return found;
    });
    service.app
      .getHttpServer()
      .once('request', (_, response: ServerResponse) => response.once('prefinish', () => (isGiven = true)));
    expect((await large[0]!.get(`${PATH}/tree`)).status).toBe(200);
    // None, if it is made and sent in one go.
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('a large tree is one JSON text with its length and its tag, whatever it is sent in', async () => {
    const { text, headers, body } = await large[0]!.get(`${PATH}/tree`);
    expect((body.data as { rows: unknown[] }).rows).toHaveLength(COUNT);
    expect(text).toBe(JSON.stringify(body));
    const tag = `"${createHash('sha1').update(text).digest('base64url')}"`;
    const length = String(Buffer.byteLength(text));
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-cache',
      'content-length': length,
      etag: tag,
    });
    const known = await large[0]!.get(`${PATH}/tree`, { 'if-none-match': tag, 'cache-control': 'no-cache' });
    expect([known.status, known.text, known.headers.etag]).toEqual([304, '', tag]);
    const head = await large[0]!.send('HEAD', `${PATH}/tree`);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', length]);
  });

  it('two large trees are not read at once, and small requests wait for neither', async () => {
    let [first, more, most] = [0, 0, 0];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    jest.spyOn(ScopedTable.prototype, 'pick').mockImplementation(async function (
      this: ScopedTable<ObjectLiteral>,
      where,
      columns,
      options: FindOptions<ObjectLiteral> = {},
    ) {
      const isPage = 'ancestors' in (options.order ?? {});
      const isMore = isPage && Boolean(options.after);
      if (isPage && !isMore) first += 1;
      if (isMore) most = Math.max(most, (more += 1));
      if (isMore) await held;
      const rows = await this.pickWith(where, columns, '', options);
      if (isMore) more -= 1;
      return rows;
    });
    const trees = large.map((api) => api.get(`${PATH}/tree`));
    await until(() => first === 2 && more > 0);
    const { api } = await freshTenant(service);
    const small = [`${PATH}/${await aDept(api)}`, `${PATH}/tree`, `${PATH}/export`];
    for (const path of small) expect((await api.get(path)).status).toBe(200);
    letGo();
    for (const tree of trees) expect((await tree).status).toBe(200);
    expect(most).toBe(1);
  });

  it('a large tree is read to its end before another one, so that they are not all ready at the end', async () => {
    const readers: object[] = [];
    jest.spyOn(ScopedTable.prototype, 'pick').mockImplementation(function (
      this: ScopedTable<ObjectLiteral>,
      where,
      columns,
      options: FindOptions<ObjectLiteral> = {},
    ) {
      if ('ancestors' in (options.order ?? {}) && options.after) readers.push(this);
      return this.pickWith(where, columns, '', options);
    });
    for (const tree of await Promise.all(large.map((api) => api.get(`${PATH}/tree`))))
      expect(tree.status).toBe(200);
    const changes = readers.filter((reader, n) => n > 0 && reader !== readers[n - 1]);
    expect([readers.length > 10, changes.length]).toEqual([true, 1]);
  });
});
