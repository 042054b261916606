import { isAlwaysServed, parseHead } from './raw-head';

const GET = 'GET /system/dept-api/1 HTTP/1.1\r\nHost: x\r\n';
const POST = 'POST /system/dept-api HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const parse = (text: string) => parseHead(Buffer.from(text, 'latin1'));

describe('the head of raw bytes', () => {
  it('is read from exactly one plain request', () => {
    const head = parse(
      `${GET}Authorization: Bearer ea.eb.c\r\nX-Request-Id: my-1\r\nAccept-Language: en-GB\r\n\r\n`,
    );
    expect(head).toEqual({
      method: 'GET',
      url: '/system/dept-api/1',
      length: 0,
      token: 'ea.eb.c',
      requestId: 'my-1',
      acceptLanguage: 'en-GB',
    });
    expect(parse(`${POST}Content-Length: 2\r\n\r\n{}`)).toMatchObject({
      method: 'POST',
      length: 2,
      token: null,
    });
    expect(parse(`${GET}Connection: Keep-Alive\r\n\r\n`)).toMatchObject({ method: 'GET' });
    expect(parse(`${GET}X-Request-Id: <x>\r\n\r\n`)).toMatchObject({
      requestId: undefined,
      acceptLanguage: undefined,
    });
    expect(parse(`${GET}Empty: \r\nX-Note: transfer-encoding, upgrade\r\n\r\n`)).not.toBeNull();
  });

  it.each([
    ['a part of a head', GET],
    ['two requests', `${GET}\r\n${GET}\r\n`],
    ['a body that is still to come', `${POST}Content-Length: 3\r\n\r\n{}`],
    ['a body and more', `${POST}Content-Length: 1\r\n\r\n{}`],
    ['a body without a length', `${POST}\r\n{}`],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a length that is not one', `${POST}Content-Length: +2\r\n\r\n{}`],
    ['an encoded body', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['an encoding in disguise', `${GET}X: y\nTransfer-Encoding : chunked\r\n\r\n`],
    ['an expectation', `${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`],
    ['another protocol', `${GET}Upgrade: h2c\r\n\r\n`],
    ['the last request of a connection', `${GET}Connection: close\r\n\r\n`],
    ['the last one in other words', `${GET}Connection:  close\r\n\r\n`],
    ['the last one among other words', `${GET}Connection: keep-alive, close\r\n\r\n`],
    ['a length and another', `${GET}Content-Length: 0\r\ncontent-length: 0\r\n\r\n`],
    ['a connection that ends in a second line', `${GET}Connection: keep-alive\r\nConnection: close\r\n\r\n`],
    ['an id with a space behind it', `${GET}X-Request-Id: a \r\n\r\n`],
    ['an id with two before it', `${GET}X-Request-Id:  a\r\n\r\n`],
    ['an id with none before it', `${GET}X-Request-Id:a\r\n\r\n`],
    ['two ids', `${GET}X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n`],
    ['a line without a colon', `${GET}X\r\n\r\n`],
    ['a name with a space', `${GET}X Y: z\r\n\r\n`],
    ['a space before the colon', `${GET}X : y\r\n\r\n`],
    ['a line without a name', `${GET}: y\r\n\r\n`],
    ['a name that is not ASCII', `${GET}X\xe9: y\r\n\r\n`],
    ['a line that goes on in the next', `${GET}X: y\r\n z\r\n\r\n`],
    ['lines that end otherwise', `${GET}X: y\nZ: z\r\n\r\n`],
    ['a line that might end', `${GET}X: y\rZ: z\r\n\r\n`],
    ['a NUL', `${GET}X: \0\r\n\r\n`],
    ['a page in a browser', `${GET}Origin: https://app.example\r\n\r\n`],
    ['an old version', 'GET / HTTP/1.0\r\n\r\n'],
    ['a whole address', 'GET http://x/ HTTP/1.1\r\n\r\n'],
    ['an odd method', 'OPTIONS / HTTP/1.1\r\n\r\n'],
    ['much', `${GET}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['no HTTP', 'x\r\n\r\n'],
  ])('is not read from %s', (_, text) => {
    expect(parse(text)).toBeNull();
  });

  it('knows what is always served', () => {
    const urls = ['/health/ready', '/metrics', '/metrics?x=1', '/healthy', '/system/dept-api', '/'];
    expect(urls.filter(isAlwaysServed)).toEqual(['/health/ready', '/metrics', '/metrics?x=1']);
  });
});
