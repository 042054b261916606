import { createHash } from 'node:crypto';
import { version } from '../../src/server/config/version';
import { ServiceUnderTest } from '../support/service-under-test';
import { exchange } from '../support/wire';

/** As a browser sends it for a page. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const LINKS = /href="([^"]+)"/g;

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

  it('the root is a page for browsers, whose links work', async () => {
    const page = await service.anonymous.get('/', BROWSER);
    const expected = { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' };
    expect([page.status, page.headers]).toMatchObject([200, expected]);
    expect(page.text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(page.text).toContain(`Tenantry ${version}`);
    const links = [...page.text.matchAll(LINKS)].map((match) => match[1]!);
    expect(links).toEqual(['docs', 'docs/openapi.json', 'docs/openapi.yaml', 'health/live', 'health/ready']);
    for (const link of links)
      expect([link, (await service.anonymous.get(`/${link}`)).status]).toEqual([link, 200]);
  });

  it('the root lets the page load nothing and run nothing', async () => {
    const { headers, text } = await service.anonymous.get('/', BROWSER);
    const style = /<style>(.*)<\/style>/s.exec(text)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text).not.toMatch(/<script|\s(style|on\w+)=/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
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
