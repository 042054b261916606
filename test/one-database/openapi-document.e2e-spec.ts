import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ThrowAwayDatabase } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { readDocument } from '../support/conformance';
import { emptyDatabase } from '../support/test-database';

const ROOT = join(__dirname, '..', '..');
const DOCUMENT = join(ROOT, 'docs', 'openapi.yaml');

const TAGS = [
  ...['Signing in', 'Departments', 'Tenants', 'Accounts'],
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
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-openapi-'));
    const types = join(folder, 'types.ts');
    run('node_modules/openapi-typescript/bin/cli.js', DOCUMENT, '-o', types);
    const made = readFileSync(types, 'utf8');
    rmSync(folder, { recursive: true });
    expect(made).toBe(readFileSync(join(ROOT, 'src', 'client', 'schema.generated.ts'), 'utf8'));
  });

  it('the OpenAPI document has no problem that a linter sees', () => {
    expect(run('test/support/lint-openapi.mjs', DOCUMENT)).toBe('');
  });

  it('the OpenAPI document gives every operation a summary, and one of eight tags that are described', () => {
    expect(document.tags.map(({ name }) => name)).toEqual(TAGS);
    for (const { description } of document.tags) expect(description).toMatch(/\.$/);
    for (const { summary, tags } of operations) {
      expect(summary).not.toBe('');
      expect(TAGS).toContain(tags.join());
    }
  });

  it('the OpenAPI document has the names that clients rely on', () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(names.sort()).toEqual([
      ...'changePassword commitReservation createDept createTenant createUser createWebhook deleteDepts deleteTenant deleteUsers deleteWebhook diffDepts'.split(
        ' ',
      ),
      ...'exportDepts getDept getDeptAncestors getDeptHistory getDeptTree getEntitlement getEntitlementOfTenant getMe getTenant getTenantHistory getUser getUserHistory getWebhook'.split(
        ' ',
      ),
      ...'importDepts listChanges listDeliveries listDepts listQuotaEntries listQuotas listQuotasOfTenant listTenants listUsers listWebhooks login logout orderDepts patchDept'.split(
        ' ',
      ),
      ...'patchTenant patchUser patchWebhook pingWebhook refresh refundQuota releaseReservation resendMessage reserveQuota restoreDept restoreTenant rotateWebhookSecret token updateDept updateTenant updateUser updateWebhook useQuota'.split(
        ' ',
      ),
    ]);
  });

  it('the OpenAPI document shows every reason of a refusal with an example', () => {
    for (const { name, responses } of operations.filter((each) => each.operationId !== 'token')) {
      for (const [status, own] of Object.entries(responses)) {
        if (status === '200' || status === '304') continue;
        const response = own.$ref ? document.components.responses[own.$ref.split('/').at(-1)!]! : own;
        const { examples = {} } = response.content!['application/json']!;
        const shown = Object.keys(examples);
        expect([name, status, shown.length]).not.toEqual([name, status, 0]);
        for (const reason of shown) {
          const { $ref } = examples[reason] as { readonly $ref: string };
          const value = document.components.examples[$ref.split('/').at(-1)!]!.value as {
            code: number;
            data: { reason: string };
          };
          expect(value.data.reason).toBe(reason);
          if (status !== 'default') expect(value.code).toBe(Number(status));
        }
      }
    }
  });

  it('the OpenAPI document has an example of every body that could name a tenant, and none names one', () => {
    interface Body {
      content: Record<string, { schema: { $ref?: string }; examples?: { default: { value: object } } }>;
    }
    const { schemas } = document.components as unknown as {
      schemas: Record<string, { properties?: object }>;
    };
    const bodies = (operations as unknown as { name: string; requestBody?: Body }[]).flatMap(
      ({ name, requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema, examples }) => {
          const { properties = {} } = schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? {};
          const shown: object | undefined = examples?.default.value;
          return { name, isMissing: 'tenantId' in properties && !shown, names: Object.keys(shown ?? {}) };
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
