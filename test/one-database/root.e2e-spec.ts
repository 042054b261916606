import fs from 'node:fs';
import { version } from '../../src/server/config/version';
import { ServiceUnderTest } from '../support/service-under-test';
import { exchange } from '../support/wire';

/** As a browser sends it for a page. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('the root of the service', () => {
  const service = ServiceUnderTest.use({ DOCS: 'on' });

  it('the root says what this is, in the envelope', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'image/png' }]) {
      const answer = await service.anonymous.get('/', headers);
      const expected = { 'content-type': 'application/json; charset=utf-8', vary: 'Accept' };
      expect([answer.status, answer.headers]).toMatchObject([200, expected]);
      const health = { live: '/health/live', ready: '/health/ready' };
      const data = { name: 'Tenantry', version, docs: '/docs', health };
      expect(answer.body).toEqual({ code: 200, msg: '操作成功', data });
    }
  });

  it('the root is a page for browsers, which is asked for again each time and sent when it has changed', async () => {
    const page = await service.anonymous.get('/', BROWSER);
    const expected = { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' };
    expect([page.status, page.headers]).toMatchObject([
      200,
      { ...expected, 'cache-control': 'private, no-cache' },
    ]);
    expect(page.text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    const known = { ...BROWSER, 'if-none-match': page.headers.etag! };
    expect((await service.anonymous.get('/', known)).status).toBe(304);
    expect((await service.anonymous.get('/', { 'if-none-match': page.headers.etag! })).status).toBe(200);
    const head = await service.anonymous.send('HEAD', '/', undefined, BROWSER);
    expect([head.status, head.headers.etag]).toEqual([200, page.headers.etag]);
  });

  it('the page runs only what comes from here', async () => {
    const { headers, text } = await service.anonymous.get('/', BROWSER);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<script(?! type="module" src="console\/)|<style|\s(style|on\w+)=/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
  });

  /** Where the files of the page are, as the page has it. */
  async function addresses(): Promise<string[]> {
    const { text } = await service.anonymous.get('/', BROWSER);
    const found = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1]!);
    return [...new Set(found)].filter((address) => address !== 'data:,');
  }

  it('the page names its files by relative addresses, below any path, and they name each other', async () => {
    const all = await addresses();
    expect(all.length).toBeGreaterThan(10);
    const files = all.map((address) => new URL(address, 'http://proxy.example/below/').href);
    for (const address of all) {
      expect(address).toMatch(/^console\/[\w-]{16}\/(console|client|dept|packages)\/[\w.-]+\.(js|css)$/);
      const { status, headers, text } = await service.anonymous.get(`/${address}`);
      const type = address.endsWith('.css') ? 'text/css' : 'text/javascript';
      expect([address, status, headers]).toMatchObject([
        ...[address, 200],
        { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=31536000, immutable' },
      ]);
      const imports = [...text.matchAll(/(?:^|[;}\s])(?:import|from) ?["']([^"']+)["']/g)].map(
        (match) => match[1]!,
      );
      const base = new URL(address, 'http://proxy.example/below/');
      for (const name of imports)
        expect(files).toContain(name.startsWith('.') ? new URL(name, base).href : name);
      expect([address, /sourceMappingURL|@import|url\(/.exec(text)]).toEqual([address, null]);
    }
  });

  it('the files of the page are at most 150 kB, compressed', async () => {
    let size = 0;
    for (const address of await addresses()) {
      const packed = await service.anonymous.send('HEAD', `/${address}`, undefined, {
        'accept-encoding': 'gzip',
      });
      expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
      const plain = await service.anonymous.send('HEAD', `/${address}`, undefined, {
        'accept-encoding': 'gzip;q=0',
      });
      expect([packed.status, plain.status, plain.headers['content-encoding']]).toEqual([200, 200, undefined]);
      size += Number(packed.headers['content-length']);
    }
    expect(size).toBeGreaterThan(20_000);
    expect(size).toBeLessThan(150_000);
  });

  it('the page has no other files', async () => {
    const [first = ''] = await addresses();
    for (const address of [
      first.replace(/console\/[\w-]{16}/, 'console/0123456789abcdef'),
      ...[
        `${first}x`,
        `${first}/`,
        first.replace(/[^/]*$/, ''),
        first.replace(/[^/]*$/, '..%2f..%2fpackage.json'),
      ],
      ...['console', 'console/', 'console/x', 'console/__proto__/constructor'],
    ])
      expect([address, (await service.anonymous.get(`/${address}`)).refusal]).toMatchObject([
        ...[address, { reason: 'ROUTE_NOT_FOUND' }],
      ]);
  });

  it('the page can be left out: everybody gets JSON', async () => {
    const [first = ''] = await addresses();
    const closed = await ServiceUnderTest.on(service.database, { CONSOLE: 'off' });
    expect((await closed.anonymous.get('/', BROWSER)).body.data).toMatchObject({ name: 'Tenantry' });
    expect((await closed.anonymous.get(`/${first}`)).refusal.reason).toBe('ROUTE_NOT_FOUND');
    await closed.leave();
  });

  it('a service whose page was not built serves all else, and says so once', async () => {
    const missing = jest.spyOn(fs, 'readdirSync').mockImplementation(() => {
      throw new Error('ENOENT: no such file or directory');
    });
    const unbuilt = await ServiceUnderTest.on(service.database);
    for (const _ of [1, 2])
      expect((await unbuilt.anonymous.get('/', BROWSER)).body.data).toMatchObject({ name: 'Tenantry' });
    expect((await unbuilt.anonymous.get('/console/x')).status).toBe(404);
    expect(missing).toHaveBeenCalledTimes(1);
    missing.mockRestore();
    expect(unbuilt.log.filter((line) => line.includes('There is no page at /: ENOENT'))).toHaveLength(1);
    await unbuilt.leave();
  });

  it('the root does not name documents that are not there', async () => {
    const closed = await ServiceUnderTest.on(service.database, { DOCS: 'off' });
    expect((await closed.anonymous.get('/')).body.data).toMatchObject({ name: 'Tenantry', docs: null });
    expect((await closed.anonymous.get('/', BROWSER)).text).not.toContain('docs');
    await closed.leave();
  });

  it('the root takes GET and HEAD alone, of a path', async () => {
    expect((await service.anonymous.send('HEAD', '/')).status).toBe(200);
    expect((await service.anonymous.post('/', {})).refusal.reason).toBe('ROUTE_NOT_FOUND');
    const statusOf = async (target: string) =>
      (await exchange(service.anonymous.baseUrl, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).status;
    expect([await statusOf('http://x.example'), await statusOf('http://x.example?x=1')]).toEqual([200, 200]);
    expect(await statusOf('*')).toBe(404);
  });
});
