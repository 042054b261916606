import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { freePort } from '../support/free-port';
import { runCli } from '../support/run-cli';
import { emptyDatabase } from '../support/test-database';

const SCREENSHOTS = join(__dirname, '..', '..', 'coverage', 'swagger-ui');
/** Runs in the page, whose types are not here. */
const tagsAre = (count: number) => `document.querySelectorAll('.opblock-tag').length === ${count}`;

describe('Swagger UI in a browser', () => {
  let database: ThrowAwayDatabase;
  let service: ChildService;
  let browser: Browser;
  let page: Page;
  const elsewhere: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    database = await emptyDatabase();
    service = await ChildService.start(database);
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.setDefaultTimeout(20_000);
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(service.anonymous.baseUrl))
        elsewhere.push(request.url());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refused request is an error to the browser; here it is what is looked for.
      if (message.type() === 'error' && !message.text().includes('status of 409'))
        complaints.push(message.text());
    });
    await page.goto(`${service.anonymous.baseUrl}/docs`);
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
    await database.drop();
  });

  const shoot = (name: string, what: Locator | Page = page) =>
    what.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });

  async function signIn(where: Page, username: string, password: string): Promise<void> {
    await where.locator('.auth-wrapper .authorize').first().click();
    const dialog = where.locator('.modal-ux');
    await dialog.locator('#oauth_username').fill(username);
    await dialog.locator('#oauth_password').fill(password);
    await shoot(`2-authorize-${username.replace(/.*\//, '')}`, where);
    await dialog
      .locator('.auth-container', { has: where.locator('#oauth_username') })
      .locator('button.authorize')
      .click();
    await dialog.locator('button', { hasText: 'Logout' }).waitFor();
    await dialog.locator('.btn-done').first().click();
  }

  async function open(operationId: string, where = page): Promise<Locator> {
    const box = where.locator(`[id$="-${operationId}"].opblock`);
    if (!(await box.getAttribute('class'))?.includes('is-open')) {
      await box.locator('.opblock-summary-control').click();
    }
    await box.locator('.execute').waitFor();
    return box;
  }

  async function execute(box: Locator): Promise<{ status: string; body: string; duration: string }> {
    await box.locator('.execute').click();
    const answer = box.locator('.live-responses-table');
    await answer.locator('.response-col_status').nth(1).waitFor();
    return {
      status: ((await answer.locator('tbody .response-col_status').first().textContent()) ?? '').trim(),
      body: (await answer.locator('.response-col_description .microlight').first().textContent()) ?? '',
      duration: (await answer.textContent()) ?? '',
    };
  }

  it('Swagger UI opens with all operations under their nine tags, and filters them', async () => {
    await page.locator('.opblock').first().waitFor();
    const tags = await Promise.all(
      (await page.locator('.opblock-tag').all()).map((tag) => tag.getAttribute('data-tag')),
    );
    expect(tags).toEqual([
      ...['Signing in', 'Departments', 'Tenants', 'Accounts', 'Keys'],
      ...['Entitlements', 'Quotas', 'Changes', 'Webhooks'],
    ]);
    expect(await page.locator('.opblock').count()).toBe(67);
    await shoot('1-opened');
    await page.locator('.operation-filter-input').fill('Tenants');
    await page.waitForFunction(tagsAre(1));
    await page.locator('.operation-filter-input').fill('');
    await page.waitForFunction(tagsAre(9));
  });

  it('Swagger UI signs in with user name and password, and stays signed in over a reload', async () => {
    await signIn(page, 'admin', 'admin-password');
    await page.reload();
    await page.locator('.auth-wrapper .authorize.locked').waitFor();
    const { status, body } = await execute(await open('getMe'));
    expect(status).toBe('200');
    const permissions = expect.arrayContaining(['dept:write', 'tenant:write']) as string[];
    expect(JSON.parse(body)).toMatchObject({ data: { username: 'admin', permissions } });
  });

  it('Swagger UI creates a department from the example as it stands, and reads it back', async () => {
    const box = await open('createDept');
    expect((await execute(box)).status).toBe('200');
    await shoot('3-created', box);
    const reading = await open('getDept');
    const read = await execute(reading);
    expect(JSON.parse(read.body)).toMatchObject({
      code: 200,
      data: { deptId: 1, deptName: '总公司', ancestors: '0' },
    });
    expect(read.duration).toMatch(/Request duration\s*\d+ ms/);
    await shoot('4-read', reading);
  });

  it('Swagger UI shows the 409 of a cycle', async () => {
    const box = await open('updateDept');
    await box
      .locator('textarea.body-param__text')
      .fill(JSON.stringify({ deptId: 1, parentId: 1, deptName: '总公司' }));
    const { status, body } = await execute(box);
    expect(status).toMatch(/^409/);
    expect(JSON.parse(body)).toMatchObject({ code: 409, data: { reason: 'DEPT_CYCLE' } });
    await shoot('5-cycle', box);
  });

  describe.each([
    ['a telephone', 390],
    ['a desk', 1280],
  ])('on the screen of %s', (_, width) => {
    let screen: Page;

    beforeAll(async () => {
      const context = await browser.newContext({ viewport: { width, height: 844 }, isMobile: width < 640 });
      screen = await context.newPage();
      screen.setDefaultTimeout(20_000);
    });
    afterAll(() => screen.context().close());

    const hidden = () =>
      screen.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

    it('the root of the service and Swagger UI fit on the screen, and nothing is wider', async () => {
      await screen.goto(service.anonymous.baseUrl);
      await shoot(`root-${width}`, screen);
      expect(await screen.evaluate('document.documentElement.clientWidth')).toBe(width);
      expect(await hidden()).toBe(0);
      await screen.locator('a[href$="/docs"]').click();
      await screen.locator('.opblock').first().waitFor();
      expect(await screen.title()).toBe('Tenantry API');
      expect(await hidden()).toBe(0);
      await shoot(`list-${width}`, screen);
      for (const id of ['createDept', 'listDepts', 'importDepts', 'updateTenant', 'login']) {
        const box = screen.locator(`[id$="-${id}"].opblock`);
        await box.locator('.opblock-summary-control').click();
        await box.locator('.execute').click();
        await box.locator('.live-responses-table .response-col_status').nth(1).waitFor();
        expect([id, await hidden()]).toEqual([id, 0]);
        await shoot(`${id}-${width}`, box);
        await box.locator('.opblock-summary-control').click();
      }
    });

    it('Swagger UI offers the permissions, and limits the token to those that were selected', async () => {
      await screen.goto(`${service.anonymous.baseUrl}/docs`);
      await screen.locator('.auth-wrapper .authorize').first().click();
      const dialog = screen.locator('.modal-ux');
      await dialog.locator('#oauth_username').fill('admin');
      await dialog.locator('#oauth_password').fill('admin-password');
      const scopes = dialog.locator('.scopes .name');
      expect(await scopes.allTextContents()).toEqual(expect.arrayContaining(['dept:read', 'change:read']));
      for (const name of ['change:read', 'dept:read']) await scopes.getByText(name, { exact: true }).click();
      await shoot(`authorize-${width}`, screen);
      expect(await hidden()).toBe(0);
      await dialog.locator('button.authorize').first().click();
      await dialog.locator('button', { hasText: 'Logout' }).waitFor();
      await shoot(`authorized-${width}`, screen);
      await dialog.locator('.btn-done').first().click();
      const me = JSON.parse((await execute(await open('getMe', screen))).body) as object;
      expect(me).toMatchObject({ data: { permissions: ['dept:read', 'change:read'] } });
      expect((await execute(await open('listDepts', screen))).status).toBe('200');
      const { status, body } = await execute(await open('createDept', screen));
      expect(status).toMatch(/^403/);
      expect(JSON.parse(body)).toMatchObject({
        data: { reason: 'PERMISSION_REQUIRED', permission: 'dept:write' },
      });
    });
  });

  describe('on the demo, by its own words', () => {
    let demoDatabase: ThrowAwayDatabase;
    let demo: ChildService;
    let tour: Page;

    beforeAll(async () => {
      demoDatabase = await emptyDatabase();
      tour = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
      tour.setDefaultTimeout(20_000);
    });
    afterAll(async () => {
      await tour.close();
      await demo.stop();
      await demoDatabase.drop();
    });

    it('Swagger UI signs in to a tenant of the demo, and every example of Departments works as it stands, from the top down', async () => {
      const PORT = String(await freePort());
      const { out } = await runCli(demoDatabase, ['demo'], '', { PORT });
      const [, address, name] = /open (\S+), press Authorize and sign in as (\S+)\./.exec(out)!;
      const [tenantId, username] = name!.split('/');
      expect(tenantId).not.toBe('000000');
      const [, password] = new RegExp(`^${tenantId} .* ${username} +\\S+ +(\\S+)$`, 'm').exec(out)!;
      demo = await ChildService.start(demoDatabase, { PORT });
      await tour.goto(address!);
      await signIn(tour, name!, password!);
      const boxes = tour.locator('[id^="operations-Departments-"].opblock');
      await boxes.first().waitFor();
      const told: string[] = [];
      for (const box of await boxes.all()) {
        const id = (await box.getAttribute('id'))!.split('-').at(-1)!;
        await box.locator('.opblock-summary-control').click();
        await box.locator('.execute').click();
        const status = box.locator('.live-responses-table tbody .response-col_status').first();
        await status.waitFor();
        told.push(`${id} ${((await status.textContent()) ?? '').trim().slice(0, 3)}`);
        if (id === 'createDept') await shoot('demo-created', box);
        await box.locator('.opblock-summary-control').click();
      }
      expect(told).toEqual(told.map((each) => each.replace(/\d+$/, '200')));
      expect(told.length).toBeGreaterThan(12);
      await shoot('demo-1280', tour);
    }, 300_000);
  });

  it('Swagger UI has asked nobody else for anything, and complained about nothing', () => {
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
