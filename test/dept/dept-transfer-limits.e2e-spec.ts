import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairQueue } from '../../src/concurrency/fair-queue';
import { TenantryDept } from '../../src/dept/dept.entity';
import { DeptTransferService } from '../../src/dept/transfer/dept-transfer.service';
import { RequestContext } from '../../src/tenancy/request-context';
import { aDept, aTenant, mintToken, type ApiClient, type RefusalBody } from '../../src/server/testing';
import { freshTenant } from '../support/fresh-tenant';
import { expectRefused } from '../support/refusals';
import { aTenantRow, deptRows } from '../support/seeds';
import { ServiceUnderTest } from '../support/service-under-test';
import { HeldTime } from '../support/hand-clock';
import { untilLater } from '../support/until';

const PATH = '/system/dept-api';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';

describe('imports and exports are bounded', () => {
  const service = ServiceUnderTest.use();
  let tenantId: string;
  let api: ApiClient;

  beforeEach(async () => ({ tenantId, api } = await freshTenant(service)));

  const send = (text: string, to = api) =>
    to.send('POST', `${PATH}/import`, text, { 'content-type': NDJSON });
  const fetchFile = (from = api) => from.get(`${PATH}/export`);

  function begin(part: string, { of = tenantId, type = NDJSON, headers = {} } = {}): ClientRequest {
    const request = httpRequest(`${service.anonymous.baseUrl}${PATH}/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${mintToken({ tenantId: of })}`, 'content-type': type, ...headers },
    });
    request.on('error', () => undefined);
    request.write(part);
    return request;
  }

  /** The refusal of an import whose body has not come to its end. */
  async function refusalOf(request: ClientRequest): Promise<RefusalBody & { status: number | undefined }> {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const chunks = (await response.toArray()) as Buffer[];
    request.destroy();
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: RefusalBody };
    return { status: response.statusCode, ...data };
  }

  describe('an import that is refused before the rest of it has come', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, n) => `{"path":"${n}"}\n`).join('');
    const bad: [string, string, string, string][] = [
      ['nothing but quotes', CSV, '"'.repeat(200_000), '1 line'],
      ['nothing but brackets', NDJSON, '['.repeat(200_000), '1 line'],
      ['quotes that do not end', CSV, `path\r\na\r\n"${'a\r\n'.repeat(60_000)}`, '3 line'],
      ['nothing but line breaks', NDJSON, '\n'.repeat(200_000), 'body'],
      ['nothing but line breaks in a table', CSV, '\n'.repeat(200_000), 'body'],
      ['nothing but empty rows', CSV, `path,leader\n${',\n'.repeat(200_000)}`, 'body'],
      ['too many lines', NDJSON, lines(20_001), 'body'],
      ['a line that is longer than any can be', NDJSON, `{"path":"${'a'.repeat(200_000)}`, '1 line'],
    ];
    it.each(bad)('an import is refused before its end for %s', async (_, type, part, field) => {
      const { status, reason, fields } = await refusalOf(begin(part, { type }));
      expect([
        status,
        reason,
        fields?.map(({ line = '', field: named }) => `${line} ${named}`.trim()),
      ]).toEqual([400, 'INVALID_INPUT', [field]]);
      expect((await fetchFile()).text).toBe('');
    });

    it('an import is refused before its end for a thousand wrong lines', async () => {
      const { status, fields } = await refusalOf(begin('{\n'.repeat(1000)));
      expect([status, fields?.length, fields?.at(-1)?.line]).toEqual([400, 1000, 1000]);
    });

    it('an import is refused before its end for a length that is not allowed', async () => {
      const headers = { 'content-length': 17 * 1024 * 1024 };
      expect(await refusalOf(begin('{', { headers }))).toMatchObject({
        status: 413,
        reason: 'BODY_TOO_LARGE',
      });
    });
  });

  it('an import that goes as far as the limits is taken', async () => {
    const head = `path,note\r\n${'\r\n'.repeat(10_000)}`;
    const deep = Array.from({ length: 64 }, (_, n) => `${'研'.repeat(61)}${String(n).padStart(3, '0')}`);
    const rows = deep.map((_, n) => `"${deep.slice(0, n + 1).join('/')}",${'x'.repeat(60_000 - n * 65)}\r\n`);
    const answer = await api.send('POST', `${PATH}/import`, head + rows.join(''), { 'content-type': CSV });
    expect([answer.status, answer.body.data]).toMatchObject([200, { created: 64 }]);
  });

  describe('one import of a tenant at a time, and four in all', () => {
    it('a second import gets a 429 that says when to come again, and a slot is free when its client goes away', async () => {
      const first = await beginAndHold();
      const refused = await send('{"path":"b"}');
      expectRefused(refused, 429, 'TOO_MANY_IMPORTS');
      expect(refused.headers['retry-after']).toBe('5');
      const dryRun = await api.send('POST', `${PATH}/import?dryRun=true`, '', { 'content-type': NDJSON });
      expect(dryRun.refusal.reason).toBe('TOO_MANY_IMPORTS');
      const others = await Promise.all(Array.from({ length: 4 }, () => aTenantRow(service.dataSource)));
      const held: ClientRequest[] = [];
      for (const of of others.slice(0, 3)) held.push(await beginAndHold(of));
      const last = service.as({ tenantId: others[3]! });
      expect((await send('{"path":"b"}', last)).refusal.reason).toBe('TOO_MANY_IMPORTS');
      held[0]!.destroy();
      expect(await untilFree(() => send('{"path":"b"}', last))).toBe(200);
      for (const request of [first, ...held]) request.destroy();
      expect(await untilFree(() => send('{"path":"b"}'))).toBe(200);
      expect((await fetchFile()).text).not.toContain('"path":"a"');
    });

    it('a refused import leaves its slot', async () => {
      for (let n = 0; n < 6; n += 1) expect((await send('{')).status).toBe(400);
      for (let n = 0; n < 6; n += 1) expect((await send('')).status).toBe(200);
    });

    /** An import that has its slot and waits for the rest of its body. */
    async function beginAndHold(of = tenantId): Promise<ClientRequest> {
      const take = jest.spyOn(FairQueue.prototype, 'acquire');
      const request = begin('{"path":"a"}\n', { of });
      while (take.mock.calls.length === 0) await nextTurn();
      take.mockRestore();
      return request;
    }
  });

  describe('one export of a tenant at a time', () => {
    /** More than any buffer between the service and a client takes. */
    async function muchToExport(): Promise<void> {
      const names = Array.from({ length: 40 }, (_, n) => `${n} ${'x'.repeat(60)}`);
      await send(names.map((_, n) => JSON.stringify({ path: names.slice(0, n + 1).join('/') })).join('\n'));
      const parent = await service.dataSource.manager.findOneByOrFail(TenantryDept, { tenantId, depth: 40 });
      const place = { parentId: parent.deptId, ancestors: `${parent.ancestors},${parent.deptId}`, depth: 41 };
      await deptRows(service.dataSource, 8000, (n) => ({ tenantId, ...place, deptName: String(n) }));
    }

    /** It is answered, and nobody reads it. */
    async function exportUnread(): Promise<ClientRequest> {
      const request = httpRequest(`${service.anonymous.baseUrl}${PATH}/export`, {
        headers: { authorization: `Bearer ${mintToken({ tenantId })}` },
      }).end();
      request.on('error', () => undefined);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(200);
      response.on('error', () => undefined);
      return request;
    }

    it('an export is cut when its client reads nothing of it for half a minute', async () => {
      await muchToExport();
      const time = new HeldTime();
      const request = await exportUnread();
      expectRefused(await fetchFile(), 429, 'TOO_MANY_EXPORTS');
      await untilLater(time, 1000, async () => (await fetchFile()).status === 200);
      time.release();
      request.destroy();
    });

    it('a second export gets a 429, and an export is over when its client goes away', async () => {
      await muchToExport();
      const request = await exportUnread();
      const refused = await fetchFile(service.as({ tenantId, roles: ['member'] }));
      expectRefused(refused, 429, 'TOO_MANY_EXPORTS');
      expect(refused.headers['retry-after']).toBe('5');
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      expect((await fetchFile(other)).status).toBe(200);
      expect((await api.get(PATH)).status).toBe(200);
      request.destroy();
      expect(await untilFree(() => fetchFile())).toBe(200);
    });

    it('a top-level tenant and all below it have one export together', async () => {
      const [child, sibling] = [(await aTenant(api)).tenantId, (await aTenant(api)).tenantId];
      await aDept(service.as({ tenantId: child }));
      const caller = { subject: 'ada', tenantId: child, username: 'ada', roles: [] };
      const pages = service.app
        .get(DeptTransferService, { strict: false })
        .export(RequestContext.of(caller, null, tenantId));
      await pages.next();
      for (const code of [tenantId, child, sibling])
        expectRefused(await fetchFile(service.as({ tenantId: code })), 429, 'TOO_MANY_EXPORTS');
      const other = service.as({ tenantId: await aTenantRow(service.dataSource) });
      expect((await fetchFile(other)).status).toBe(200);
      await pages.return();
      expect((await fetchFile(service.as({ tenantId: sibling }))).status).toBe(200);
    });

    it('exports one after the other are never refused', async () => {
      for (let n = 0; n < 10; n += 1) expect((await fetchFile()).status).toBe(200);
      for (let n = 0; n < 10; n += 1)
        expect((await api.get(`${PATH}/export`, { accept: 'image/png' })).status).toBe(406);
      expect((await api.send('HEAD', `${PATH}/export`)).status).toBe(200);
      expect(await untilFree(() => fetchFile())).toBe(200);
    });
  });

  /** What a request is answered that is repeated as long as there is no slot for it. */
  async function untilFree(ask: () => Promise<{ status: number }>): Promise<number> {
    for (;;) {
      const { status } = await ask();
      if (status !== 429) return status;
    }
  }
});
