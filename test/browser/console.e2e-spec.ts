import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { mintToken, type ApiClient, type ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { emptyDatabase } from '../support/test-database';

const SCREENSHOTS = join(__dirname, '..', '..', 'coverage', 'console');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const PASSWORD = 'a-long-password';
const HOSTILE = '<img src=x onerror="document.title=1">';

interface Look {
  readonly width?: number;
  readonly locale?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly at?: string;
}

interface AxeFinding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** How long the longest of so many frames took, while a tree scrolls; without one, nothing does. In milliseconds. */
const longestFrame = (frames: number): string => `new Promise((resolve) => {
  const tree = document.querySelector('[role=tree]');
  let [count, longest, last] = [0, 0, performance.now()];
  const next = (now) => {
    longest = Math.max(longest, now - last);
    last = now;
    if (tree) tree.scrollTop += 400;
    count += 1;
    if (count < ${frames}) requestAnimationFrame(next);
    else resolve(longest);
  };
  requestAnimationFrame(next);
})`;

describe('the console in a browser', () => {
  let database: ThrowAwayDatabase;
  let service: ChildService;
  let browser: Browser;
  let api: ApiClient;
  const complaints: string[] = [];
  const elsewhere: string[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    database = await emptyDatabase();
    service = await ChildService.start(database);
    api = service.as({});
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
    await database.drop();
  });

  async function newPage({
    width = 1280,
    locale = 'en-GB',
    colorScheme = 'light',
    at = `${service.anonymous.baseUrl}/`,
  }: Look = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 850 }, locale, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refused request is an error to the browser; here it is what is looked for.
      if (message.type() === 'error' && !/status of 4(00|01|03|09|12|29)/.test(message.text()))
        complaints.push(message.text());
    });
    page.on('request', (asked) => {
      if (!/^(data|blob):/.test(asked.url()) && !asked.url().startsWith(new URL(at).origin))
        elsewhere.push(asked.url());
    });
    await page.goto(at);
    return page;
  }

  async function signIn(
    page: Page,
    username = 'admin',
    password = 'admin-password',
    tenantId = '',
  ): Promise<void> {
    await page.locator('[name=tenantId]').fill(tenantId);
    await page.locator('[name=username]').fill(username);
    await page.locator('[name=password]').fill(password);
    await page.locator('button[type=submit]').click();
  }

  async function signedIn(look: Look = {}): Promise<Page> {
    const page = await newPage(look);
    await signIn(page);
    await page.locator('nav a').first().waitFor();
    return page;
  }

  const line = (page: Page, name: string): Locator =>
    page.getByRole('treeitem').filter({ has: page.getByText(name, { exact: true }) });
  const shoot = (page: Page, name: string) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  const create = async (deptName: string, parentId = 0): Promise<number> => {
    const { headers } = await api.post('/system/dept-api', { deptName, parentId });
    return Number(headers.location?.split('/').at(-1));
  };
  /** Whether nothing is wider than the page. */
  const fits = (page: Page): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

  it('the console tells what is wrong with a sign-in, stays signed in over a reload, and signs out', async () => {
    const page = await newPage();
    await shoot(page, '1-sign-in');
    await signIn(page, 'admin', 'wrong-password');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('incorrect');
    await signIn(page);
    await page.locator('nav a').first().waitFor();
    await page.reload();
    await page.locator('nav a').first().waitFor();
    expect(page.url()).not.toContain('ey');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('[name=password]').waitFor();
    await page.reload();
    await page.locator('[name=password]').waitFor();
    await page.context().close();
  });

  it('the console takes a pasted token, and refuses one that is none', async () => {
    const page = await newPage();
    await page.getByRole('button', { name: 'Use a token or a key' }).click();
    await page.locator('[name=token]').fill('nothing');
    await page.locator('button[type=submit]').click();
    await page.getByRole('alert').waitFor();
    await page.locator('[name=token]').fill(mintToken({}));
    await page.locator('button[type=submit]').click();
    await page.locator('nav a').first().waitFor();
    await page.context().close();
  });

  it('the console creates, edits, moves by dragging, refuses a circle at its place, orders, deletes and restores', async () => {
    const page = await signedIn();
    await page.getByRole('button', { name: 'New department' }).click();
    await page.locator('dialog [name=deptName]').fill('Sales');
    await page.locator('dialog [name=leader]').fill('Li Na');
    await page.locator('dialog button[type=submit]').click();
    await line(page, 'Sales').waitFor();
    await page.locator('.details h2', { hasText: 'Sales' }).waitFor();
    await page.getByRole('button', { name: 'New department below' }).click();
    await page.locator('dialog [name=deptName]').fill('North');
    await page.locator('dialog button[type=submit]').click();
    await line(page, 'North').waitFor();
    await line(page, 'Sales').dragTo(line(page, 'North'));
    await page.locator('.notice').waitFor();
    expect(await page.locator('.notice').textContent()).toContain('cannot be moved below itself');
    await shoot(page, '2-refused-circle');
    await create('Research');
    await line(page, 'Research').waitFor();
    await line(page, 'North').dragTo(line(page, 'Research'));
    await page.locator('[aria-level="2"]', { hasText: 'North' }).waitFor();
    await page.locator('[aria-expanded=true]', { hasText: 'Research' }).waitFor();
    const { body } = await api.get('/system/dept-api?deptName=North');
    const [north] = (body.data as { rows: { deptId: number; parentId: number }[] }).rows;
    expect((await api.get(`/system/dept-api/${north!.parentId}`)).body.data).toMatchObject({
      deptName: 'Research',
    });
    await line(page, 'Research').click();
    await page.keyboard.press('Alt+ArrowUp');
    await page.locator('[aria-level="1"][aria-posinset="1"]', { hasText: 'Research' }).waitFor();
    await line(page, 'Research').click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog button[type=submit]').click();
    await page.locator('dialog [role=alert]').waitFor();
    expect(await page.locator('dialog [role=alert]').textContent()).toContain('child departments');
    await page.locator('dialog [name=subtree]').check();
    await page.locator('dialog button[type=submit]').click();
    await line(page, 'Research').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Deleted' }).click();
    await page.getByRole('button', { name: 'Restore' }).first().click();
    await line(page, 'Research').waitFor();
    await page.context().close();
  });

  it('the console shows somebody else’s change instead of overwriting it', async () => {
    const id = await create('Contested');
    const [one, two] = [await signedIn(), await signedIn()];
    for (const page of [one, two]) {
      await line(page, 'Contested').click();
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.locator('dialog [name=leader]').waitFor();
    }
    await one.locator('dialog [name=leader]').fill('First');
    await one.locator('dialog button[type=submit]').click();
    await one.locator('dialog').waitFor({ state: 'detached' });
    await two.locator('dialog [name=leader]').fill('Second');
    await two.locator('dialog button[type=submit]').click();
    await two.getByText('Somebody else has just changed').waitFor();
    expect(await two.locator('dialog del').textContent()).toBe('First');
    await shoot(two, '3-conflict');
    expect((await api.get(`/system/dept-api/${id}`)).body.data).toMatchObject({ leader: 'First' });
    await two.getByRole('button', { name: 'Save mine all the same' }).click();
    await two.locator('dialog').waitFor({ state: 'detached' });
    expect((await api.get(`/system/dept-api/${id}`)).body.data).toMatchObject({ leader: 'Second' });
    await one.context().close();
    await two.context().close();
  });

  it('the console shows a change of another client within seconds, and searches with what is above', async () => {
    const parent = await create('Logistics');
    const page = await signedIn();
    await line(page, 'Logistics').waitFor();
    await sleep(500);
    await create('Fleet', parent);
    await line(page, 'Logistics').locator('.knob').click();
    await line(page, 'Fleet').waitFor();
    await api.patch(`/system/dept-api/${parent}`, { deptName: 'Transport' });
    await line(page, 'Transport').waitFor();
    await page.getByRole('searchbox').fill('Flee');
    await line(page, 'Contested').waitFor({ state: 'detached' });
    expect(await page.getByRole('treeitem').count()).toBe(2);
    await page.getByRole('searchbox').fill('no such');
    await page.getByText('No department matches').waitFor();
    await page.context().close();
  });

  it('the console shows the organisation as it was, and what has changed since', async () => {
    const id = await create('Old name');
    await sleep(1100);
    const then = new Date(Date.now() + 8 * 60 * 60_000).toISOString().slice(0, 19);
    await sleep(1100);
    await api.patch(`/system/dept-api/${id}`, { deptName: 'New name' });
    const page = await signedIn();
    await line(page, 'New name').waitFor();
    await page.locator('.toolbar [type=datetime-local]').fill(then);
    await page.locator('.toolbar [type=datetime-local]').blur();
    await line(page, 'Old name').waitFor();
    await line(page, 'Old name').click();
    await page.locator('.details h2', { hasText: 'Old name' }).waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.locator('[name=from]').fill(then);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Renamed').waitFor();
    await shoot(page, '4-compare');
    await page.context().close();
  });

  it('the console shows names as text, whatever is in them', async () => {
    await create(HOSTILE);
    const page = await signedIn();
    await line(page, HOSTILE).click();
    await page.locator('.details h2', { hasText: '<img' }).waitFor();
    await page.getByRole('link', { name: 'Chart' }).click();
    await page.locator('.chart text', { hasText: '<img' }).waitFor();
    expect(await page.title()).toBe('Tenantry');
    expect(await page.locator('main img').count()).toBe(0);
    await page.context().close();
  });

  it('the console can be used by the keyboard alone', async () => {
    const page = await signedIn();
    await line(page, 'Sales').waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await page.keyboard.type('sal');
    await page.locator('[aria-selected=true]', { hasText: 'Sales' }).waitFor();
    await page.locator('.details h2', { hasText: 'Sales' }).waitFor();
    for (let at = 0; at < 30; at += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate("document.activeElement?.textContent === 'Move to…'")) break;
    }
    await page.keyboard.press('Enter');
    await page.locator('dialog [type=search]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('the console offers a member nothing that it may not do', async () => {
    await api.post('/system/user-api', { username: 'reader', password: PASSWORD, roles: ['member'] });
    const page = await newPage();
    await signIn(page, 'reader', PASSWORD);
    await line(page, 'Sales').click();
    await page.locator('.details h2').waitFor();
    expect(await page.locator('.details button').count()).toBe(0);
    expect(await page.locator('nav a').allTextContents()).toEqual(['List', 'Chart']);
    expect(await page.getByRole('button', { name: 'New department' }).count()).toBe(0);
    await page.context().close();
  });

  it('the console shows tenants with their quotas, and creates one', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Tenants' }).click();
    await page.getByRole('treeitem').first().click();
    await page.getByRole('button', { name: 'New tenant below' }).click();
    await page.locator('dialog [name=tenantName]').fill('Acme');
    await page.locator('dialog [name=endTime]').fill('2099-12-31');
    await page.locator('dialog [name=riskReport]').fill('100');
    await page.locator('dialog button[type=submit]').click();
    await line(page, 'Acme').click();
    await page.getByText('0 of 100').waitFor();
    await shoot(page, '5-tenants');
    await page.context().close();
  });

  describe.each([
    { width: 1280, locale: 'en-GB', colorScheme: 'light' },
    { width: 1280, locale: 'zh-CN', colorScheme: 'dark' },
    { width: 390, locale: 'en-GB', colorScheme: 'dark' },
    { width: 390, locale: 'zh-CN', colorScheme: 'light' },
  ] as const)('with $width pixels, in $locale, $colorScheme', (look) => {
    it('every part of the console fits, and axe-core finds nothing serious', async () => {
      const page = await signedIn(look);
      for (const view of ['list', 'chart', 'compare', 'deletedDepts', 'tenants']) {
        await page.evaluate(`location.hash = '${view}'`);
        await page.locator(`nav [href='#${view}'][aria-current]`).waitFor();
        await sleep(200);
        await shoot(page, `6-${view}-${look.width}-${look.locale}-${look.colorScheme}`);
        expect([view, await fits(page)]).toEqual([view, true]);
        await page.evaluate(AXE);
        const found = await page.evaluate<AxeFinding[]>('axe.run().then(({ violations }) => violations)');
        const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(serious.map(({ id, nodes }) => [view, id, nodes.map(({ html }) => html)])).toEqual([]);
      }
      await page.context().close();
    });
  });

  it('the console changes nothing but what was changed in its forms', async () => {
    const { headers } = await api.post('/system/dept-api', { deptName: 'Closed', status: '1' });
    const rules = { modelZr: 'one\r\ntwo\n\tthree ', catalogRw: '' };
    const ended = { tenantName: 'Kept', status: '1', ruleBo: rules, quotaBo: { merchant: -1 } };
    const { headers: created } = await api.post('/system/tenant-api', ended);
    const page = await signedIn();
    await line(page, 'Closed').click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.locator('dialog [name=phone]').fill('12345');
    await page.locator('dialog button[type=submit]').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect((await api.get(headers.location ?? '')).body.data).toMatchObject({ phone: '12345', status: '1' });
    await page.getByRole('link', { name: 'Tenants' }).click();
    await line(page, 'Kept').click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.locator('dialog [name=contactPhone]').fill('67890');
    await page.locator('dialog button[type=submit]').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit');
    const { body } = await api.get(created.location ?? '');
    expect(body.data).toMatchObject({
      contactPhone: '67890',
      status: '1',
      ruleBo: rules,
      quotaBo: { merchant: -1 },
    });
    await page.context().close();
  });

  it('the console moves no department that somebody else has moved, and drops nothing that was let go elsewhere', async () => {
    const [from, to, away] = [await create('From'), await create('To'), await create('Away')];
    const id = await create('Wanderer', from);
    const partial = {
      username: 'blind',
      password: PASSWORD,
      roles: ['dept_admin'],
      managedDeptIds: [from, to, away],
    };
    await api.post('/system/user-api', partial);
    const page = await newPage();
    await signIn(page, 'blind', PASSWORD);
    await line(page, 'Wanderer').waitFor();
    await api.patch(`/system/dept-api/${id}`, { parentId: away });
    await line(page, 'Wanderer').dragTo(page.locator('.toolbar'));
    await page.locator('nav a').first().dragTo(line(page, 'To'));
    await line(page, 'Wanderer').dragTo(line(page, 'To'));
    await page.getByText('Somebody else has just moved this department').waitFor();
    expect((await api.get(`/system/dept-api/${id}`)).body.data).toMatchObject({ parentId: away });
    await page.context().close();
  });

  it('the console says that the future cannot be shown, and shows nothing as it', async () => {
    const page = await signedIn();
    await line(page, 'From').waitFor();
    await page.locator('.toolbar [type=datetime-local]').fill('2090-01-01T00:00');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await line(page, 'From').waitFor();
    await page.context().close();
  });

  it('the console prints the whole chart with its boxes', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Chart' }).click();
    await page.locator('.chart rect').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`print = () => {
      const boxes = [...document.querySelectorAll('.chart rect')];
      document.title = JSON.stringify(boxes.map((box) => box.getBoundingClientRect().height));
    }`);
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((each) => each.textContent === 'Print').click()",
    );
    await page.waitForFunction("document.title.startsWith('[')");
    const boxes = JSON.parse(await page.title()) as number[];
    expect(boxes.length).toBeGreaterThan(10);
    expect(Math.min(...boxes)).toBeGreaterThan(5);
    await page.context().close();
  });

  it('the console offers a department administrator what is in its part', async () => {
    const mine = await create('Mine');
    await create('Within', mine);
    await create('Other');
    const managedDeptIds = [mine];
    const account = { username: 'part', password: PASSWORD, roles: ['dept_admin'], managedDeptIds };
    await api.post('/system/user-api', account);
    const page = await newPage();
    await signIn(page, 'part', PASSWORD);
    const offeredFor = async (name: string): Promise<string[]> => {
      await line(page, name).click();
      await page.locator('.details h2', { hasText: name }).waitFor();
      return page.locator('.actions button').allTextContents();
    };
    expect(await offeredFor('Other')).toEqual([]);
    expect(await offeredFor('Mine')).toEqual(['Edit', 'New department below']);
    await page.keyboard.press('ArrowRight');
    expect(await offeredFor('Within')).toEqual([
      'Edit',
      'New department below',
      'Move to…',
      'Delete',
      '↑',
      '↓',
    ]);
    expect(await line(page, 'Other').getAttribute('draggable')).toBe('false');
    expect(await line(page, 'Within').getAttribute('draggable')).toBe('true');
    await page.context().close();
  });

  it('the console says that a tenant has expired, and when to try again', async () => {
    const { headers } = await api.post('/system/tenant-api', { tenantName: 'Ended' });
    const id = headers.location?.split('/').at(-1);
    const { body } = await api.get(`/system/tenant-api/${id}`);
    const { tenantId } = body.data as { tenantId: string };
    const boss = { username: 'boss', password: PASSWORD, roles: ['tenant_admin'] };
    await service.as({ tenantId }).post('/system/user-api', boss);
    await api.patch(`/system/tenant-api/${id}`, { startTime: '2001-01-01', endTime: '2001-12-31' });
    const page = await newPage();
    await signIn(page, 'boss', PASSWORD, tenantId);
    await page.getByRole('alert').filter({ hasText: 'service period of your tenant has ended' }).waitFor();
    const json = { code: 429, msg: 'Too many requests', data: { reason: 'RATE_LIMITED' } };
    await page.route(/auth\/login/, (route) =>
      route.fulfill({ status: 429, json, headers: { 'retry-after': '30' } }),
    );
    await signIn(page, 'boss', PASSWORD, tenantId);
    await page.getByText('Too many requests. Try again in 30 s').waitFor();
    await page.context().close();
  });

  it('the console renews an expired token, and asks again', async () => {
    const parent = await create('Renewed');
    await create('Below renewed', parent);
    const page = await signedIn();
    await line(page, 'Renewed').waitFor();
    const refused = { code: 401, msg: 'expired', data: { reason: 'TOKEN_EXPIRED' } };
    await page.route(/dept-api\/tree/, (route) => route.fulfill({ status: 401, json: refused }), {
      times: 1,
    });
    const renewed = page.waitForRequest(/auth\/refresh/);
    await page.getByRole('button', { name: 'Open all' }).click();
    await renewed;
    await line(page, 'Below renewed').waitFor();
    await page.context().close();
  });

  it('the console follows nothing while it is hidden, and catches up when it is seen', async () => {
    await create('Before hiding');
    const page = await signedIn();
    await line(page, 'Before hiding').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`);
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('change-api'));
    await hide(true);
    await ended;
    await create('While hidden');
    await sleep(1500);
    expect(await line(page, 'While hidden').count()).toBe(0);
    await hide(false);
    await line(page, 'While hidden').waitFor();
    await page.context().close();
  });

  it('the console draws the organisation, folds a branch and saves the drawing', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Chart' }).click();
    await page.getByRole('button', { name: 'Open all' }).click();
    await page.getByRole('button', { name: 'Fit' }).click();
    const north = page.locator('.chart text', { hasText: 'North' });
    await north.waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as SVG' }).click();
    const file = readFileSync(await (await saved).path(), 'utf8');
    expect(file).toContain('>North</text>');
    expect(file).not.toContain('<img');
    await page.getByRole('button', { name: 'Close all' }).click();
    await north.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('the console speaks the language of the browser, or the one that was chosen', async () => {
    const page = await newPage({ locale: 'zh-CN' });
    await page.getByRole('button', { name: '登录', exact: true }).waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await page.context().close();
  });

  it('the console works below a path of a proxy', async () => {
    const target = new URL(service.anonymous.baseUrl);
    const proxy = createServer((incoming, outgoing) => {
      const path = incoming.url?.replace(/^\/org/, '');
      const { method, headers } = incoming;
      const sent = request({ port: target.port, path, method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      sent.on('error', () => outgoing.destroy());
      incoming.pipe(sent);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const page = await newPage({ at: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/org/` });
    await signIn(page);
    await line(page, 'Sales').waitFor();
    await page.context().close();
    proxy.closeAllConnections();
    proxy.close();
  });

  it('the console opens all also when that is asked before the tree has come', async () => {
    const page = await newPage();
    await page.route(/dept-api\/tree/, async (route) => {
      await sleep(600);
      await route.continue();
    });
    await create('Deep', await create('Middle', await create('Top')));
    await signIn(page);
    await page.getByRole('button', { name: 'Open all' }).click();
    await line(page, 'Deep').waitFor();
    await page.context().close();
  });

  it('the console scrolls through 5,000 departments without a long frame', async () => {
    const paths = Array.from({ length: 50 }, (_, at) => `Large/Unit ${at}`);
    const teams = Array.from({ length: 4900 }, (_, at) => `Large/Unit ${at % 50}/Team ${at}`);
    const lines = ['Large', ...paths, ...teams].map((path) => JSON.stringify({ path })).join('\n');
    await api.post('/system/dept-api/import', lines, { 'content-type': 'application/x-ndjson' });
    const page = await signedIn();
    await page.getByRole('button', { name: 'Open all' }).click();
    await line(page, 'Team 0').waitFor();
    const empty = await page.context().newPage();
    const [scrolling, nothing]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      await page.bringToFront();
      scrolling.push(await page.evaluate<number>(longestFrame(60)));
      await empty.bringToFront();
      nothing.push(await empty.evaluate<number>(longestFrame(60)));
    }
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100);
    // Other work on the machine makes some frames longer, also those of an empty page.
    expect(Math.min(...scrolling)).toBeLessThan(Math.max(100, 2 * Math.min(...nothing)));
    await page.context().close();
  });

  it('the console asks nobody but its service, and complains about nothing', () => {
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
