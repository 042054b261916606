import { chromium, type Browser } from 'playwright-core';
import { aDept, mintToken } from '../../src/server/testing';
import { ServiceUnderTest } from '../support/service-under-test';

const TREE = '/system/dept-api/tree';
/** The widest characters, scripts that join or run from right to left, and markup. */
const NAMES = [
  ...['W', 'm', '@', '部', 'Ж', 'é', 'ﾃ', '—'].map((character) => character.repeat(64)),
  ...[
    '😀'.repeat(32),
    '👩‍👩‍👧‍👦'.repeat(5),
    '🇨🇳'.repeat(16),
    'قسم المبيعات والتسويق',
    'कार्यालय '.repeat(7).trim(),
  ],
  ...['Human Resources and Organisational Development', '<img src=x onerror=document.title="run">', ''],
];

/** Runs in the page, whose types are not here: the texts that are not in the box before them. */
const OUTSIDE = `
  let box;
  [...document.querySelectorAll('rect, text')].flatMap((element) => {
    const { x, y, width, height } = element.getBBox();
    const here = { left: x, right: x + width, top: y, bottom: y + height };
    if (element.tagName === 'rect') box = here;
    const isIn = here.left >= box.left && here.right <= box.right && here.top >= box.top && here.bottom <= box.bottom;
    return isIn ? [] : [element.textContent];
  })`;

describe('the chart as a picture, in a browser', () => {
  const service = ServiceUnderTest.use();
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  it('the chart, opened by itself, has every text in its box, and runs nothing', async () => {
    const api = service.as();
    const top = await aDept(api, { deptName: '<script>document.title="run"</script>' });
    for (const deptName of NAMES) await aDept(api, { parentId: top, deptName, leader: deptName });
    const headers = { authorization: `Bearer ${mintToken()}`, accept: 'image/svg+xml' };
    const page = await browser.newPage();
    await page.route('**', (route) =>
      route.continue({ headers: { ...route.request().headers(), ...headers } }),
    );
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    const answer = await page.goto(`${service.anonymous.baseUrl}${TREE}`);
    expect(answer?.headers()['content-type']).toBe('image/svg+xml; charset=utf-8');
    expect(await page.evaluate("document.querySelector('title').textContent")).toBe('000000');
    expect([await page.evaluate(OUTSIDE), problems]).toEqual([[], []]);
    await page.close();
  });
});
