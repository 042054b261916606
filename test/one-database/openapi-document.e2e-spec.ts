import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { reasonsIn, readDocument, wholeSchema } from '../support/conformance';
import { emptyDatabase } from '../support/test-database';

const ROOT = join(__dirname, '..', '..');
const DOCUMENT = join(ROOT, 'docs', 'openapi.yaml');

const TAGS = [
  ...['Signing in', 'Departments', 'Tenants', 'Accounts', 'Keys'],
  ...['Entitlements', 'Quotas', 'Changes', 'Webhooks'],
];

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });

describe('the OpenAPI document', () => {
  const document = readDocument();
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  );

  it('the OpenAPI document is the one that npm run openapi writes, and so are the types of the client', () => {
    expect(run('dist/server/cli/main.js', 'openapi')).toBe(readFileSync(DOCUMENT, 'utf8'));
    const made = run('test/support/client-types.mjs');
    expect(made).toBe(readFileSync(join(ROOT, 'src', 'client', 'schema.generated.ts'), 'utf8'));
  });

  it('the OpenAPI document has no problem that a linter sees', () => {
    expect(run('test/support/lint-openapi.mjs', DOCUMENT)).toBe('');
  });

  it('the OpenAPI document gives every operation a summary, a description in sentences, and one of nine tags that are described', () => {
    expect(document.tags.map(({ name }) => name)).toEqual(TAGS);
    for (const { description } of document.tags) expect(description).toMatch(/\.$/);
    for (const { summary, description, tags } of operations) {
      expect(summary).not.toBe('');
      expect(description).toMatch(/^[`A-Z].*\.$/);
      expect(TAGS).toContain(tags.join());
    }
  });

  it('the OpenAPI document has the names that clients rely on', () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(names.sort()).toEqual([
      ...'changePassword commitReservation createDept createKey createTenant createUser createWebhook deleteDepts deleteKeys deleteTenant deleteUsers deleteWebhook diffDepts endUserSession endUserSessions'.split(
        ' ',
      ),
      ...'exportDepts getDept getDeptAncestors getDeptHistory getDeptTree getEntitlement getEntitlementOfTenant getKey getKeyHistory getMe getTenant getTenantHistory getUser getUserHistory getWebhook'.split(
        ' ',
      ),
      ...'importDepts listChanges listDeliveries listDepts listKeys listQuotaEntries listQuotas listQuotasOfTenant listSignIns listTenants listUserSessions listUsers listWebhooks login logout orderDepts patchDept patchKey'.split(
        ' ',
      ),
      ...'patchTenant patchUser patchWebhook pingWebhook refresh refundQuota releaseReservation resendMessage reserveQuota restoreDept restoreTenant rotateWebhookSecret token updateDept updateKey updateTenant updateUser updateWebhook useQuota'.split(
        ' ',
      ),
    ]);
  });

  it('the OpenAPI document names the reasons of every refusal, and shows an example', () => {
    for (const { name, responses } of operations.filter((each) => each.operationId !== 'token')) {
      for (const [status, own] of Object.entries(responses)) {
        if (status === '200' || status === '304') continue;
        const response = own.$ref ? document.components.responses[own.$ref.split('/').at(-1)!]! : own;
        const { examples = {} } = response.content!['application/json']!;
        const shown = Object.entries(examples);
        expect([name, status, shown.length]).not.toEqual([name, status, 0]);
        for (const [reason, { $ref }] of shown) {
          const value = document.components.examples[$ref.split('/').at(-1)!]!.value as {
            code: number;
            data: { reason: string };
          };
          expect(value.data.reason).toBe(reason);
          expect(reasonsIn(response)).toContain(reason);
          if (status !== 'default') expect(value.code).toBe(Number(status));
        }
      }
    }
  });

  it('the OpenAPI document names every schema so that no host has one of the same name', () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !/^Tenantry[A-Z]/.test(name))).toEqual([]);
  });

  it('the OpenAPI document lists the values of parameters that have a few', () => {
    const { parameters = [] } = document.paths['/system/change-api']!.get as { parameters?: object[] };
    const find = (name: string) => parameters.find((each) => 'name' in each && each.name === name);
    expect(find('order')).toMatchObject({ schema: { enum: ['asc', 'desc'] } });
    const items = { type: 'string', enum: ['dept', 'tenant', 'user', 'key'] };
    expect(find('kinds')).toMatchObject({ style: 'form', explode: false, schema: { type: 'array', items } });
  });

  it('the OpenAPI document describes the messages of webhooks', () => {
    const { callbacks = {} } = document.paths['/system/webhook-api']!.post!;
    const { post } = callbacks.WebhookMessage!['{$request.body#/url}']!;
    const headers = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    expect(post!.parameters).toMatchObject(headers.map((name) => ({ name, in: 'header', required: true })));
    expect(Object.keys(post!.responses)).toEqual(['2XX', '4XX']);
  });

  it('the OpenAPI document has an example of every body that could name a tenant, and none names one', () => {
    interface Body {
      content: Record<string, { schema: { $ref?: string; properties?: object }; example?: object }>;
    }
    const bodies = (operations as unknown as { name: string; requestBody?: Body }[]).flatMap(
      ({ name, requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema, example }) => {
          const { properties = {} } = wholeSchema(document, schema);
          return { name, isMissing: 'tenantId' in properties && !example, names: Object.keys(example ?? {}) };
        }),
    );
    expect(bodies.length).toBeGreaterThan(15);
    expect(bodies.filter(({ isMissing, names }) => isMissing || names.includes('tenantId'))).toEqual([]);
  });

  it('the OpenAPI document knows no number without a width', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('"type":"number"');
    const integers = text.match(/\{[^{}]*"type":"integer"[^{}]*\}/g)!;
    const loose = integers.filter((each) => !each.includes('"format":"int'));
    expect(loose).toEqual([]);
  });

  describe('of a running service', () => {
    let database: ThrowAwayDatabase;
    beforeEach(async () => {
      database = await emptyDatabase();
    });
    afterEach(() => database.drop());
    const start = (env: Record<string, string>) => ChildService.start(database, env);

    it('the OpenAPI document is served as JSON and as YAML, beside Swagger UI', async () => {
      const service = await start({});
      expect(JSON.parse((await service.anonymous.get('/docs/openapi.json')).text)).toEqual(document);
      expect(load((await service.anonymous.get('/docs/openapi.yaml')).text)).toEqual(document);
      expect((await service.anonymous.get('/docs')).text).toContain('swagger-ui');
      await service.stop();
    });

    it('the OpenAPI document is closed with DOCS=off', async () => {
      const service = await start({ DOCS: 'off' });
      const paths = '/docs /docs/openapi.json /docs/openapi.yaml /docs-json /docs/swagger-ui.css'.split(' ');
      for (const path of paths) expect((await service.anonymous.get(path)).status).toBe(404);
      await service.stop();
    });
  });
});
