import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { DeptListService } from '../../src/dept/dept-list.service';
import type { ApiClient } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';

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
});
