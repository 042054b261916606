import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiExtraModels,
  ApiProperty,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { RequireMenu, TenantryModule, TenantScoped, UsesQuota, type Envelope } from '../../src/index';
import { reasonsIn } from '../../src/web/refusal-responses';
import { HeaderResolver, Host } from '../support/host';

const ROOT = join(__dirname, '..', '..');
const LINTER = join('test', 'support', 'lint-openapi.mjs');
/** On `dist`: only Nest's compiler puts the comments of classes into a document. */
const SIZE = join('test', 'support', 'host-document-size.cjs');

/** Of the host, whose tenants and departments are something else. */
class TenantDto {
  @ApiProperty()
  plan!: string;
}
class CreateTenantDto extends TenantDto {}
class PackageBo extends TenantDto {}

@Controller('host')
class HostController {
  @Get()
  own(): TenantDto {
    return { plan: 'own' };
  }

  @Post()
  @ApiExtraModels(PackageBo)
  @ApiResponse({ status: 200, type: TenantDto })
  create(@Body() tenant: CreateTenantDto): TenantDto {
    return tenant;
  }
}

@RequireMenu(100)
@Controller('host/reports')
class ReportController {
  /** What Nest's plugin for the compiler adds. */
  static _OPENAPI_METADATA_FACTORY(): object {
    return { compiled: { summary: 'Of a comment', type: TenantDto } };
  }

  @Get()
  silent(): string {
    return '';
  }

  @HttpCode(202)
  @UsesQuota('riskReport')
  @Post()
  spends(): string {
    return '';
  }

  @UsesQuota('riskReport')
  @Post('told')
  @ApiResponse({ status: 200, type: TenantDto })
  @ApiConflictResponse({ description: 'The report is there already.', type: PackageBo })
  told(): TenantDto {
    return { plan: '' };
  }

  @TenantScoped()
  @Post('compiled')
  compiled(): TenantDto {
    return { plan: '' };
  }
}

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security?: object[];
  readonly responses: object;
  readonly 'x-permission'?: string;
}

/** Every `$ref` of a document, and whether it leads anywhere. */
function danglingRefs(document: OpenAPIObject): string[] {
  const refs = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!),
  );
  const find = (path: string): unknown =>
    path
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
  return [...refs].filter((path) => find(path) === undefined);
}

describe("a host's own OpenAPI document", () => {
  let host: Host;
  let document: OpenAPIObject;

  beforeAll(async () => {
    host = await Host.start({
      imports: [TenantryModule.forRoot({ principalResolver: new HeaderResolver(), userDirectory: 'none' })],
      controllers: [HostController, ReportController],
    });
    const config = new DocumentBuilder()
      .setTitle('The platform')
      .setLicense('MIT', 'https://opensource.org/license/mit')
      .addServer('/api')
      .addBearerAuth()
      .build();
    document = SwaggerModule.createDocument(host.app, config);
  });
  afterAll(() => host.stop());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>)
        .filter(() => path.startsWith('/system/'))
        .map(([, operation]) => operation),
    );

  it("a host's own TenantDto and ours are two schemas, each with its own fields", () => {
    const schemas = document.components!.schemas as Record<string, { properties: object }>;
    const own = ['TenantDto', 'CreateTenantDto', 'PackageBo'];
    for (const name of own) expect(Object.keys(schemas[name]!.properties)).toEqual(['plan']);
    expect(schemas.TenantryTenant!.properties).not.toHaveProperty('plan');
    expect(schemas.TenantryCreateTenant!.properties).toHaveProperty('tenantName');
    expect(schemas.TenantryPackageBo!.properties).toHaveProperty('menuIds');
    const others = Object.keys(schemas).filter((name) => !/^Tenantry[A-Z]/.test(name));
    expect(others.sort()).toEqual(own.sort());
  });

  it('a document of a host has every operation, complete and without a reference that leads nowhere', () => {
    expect(operations().map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining([
        'createDept',
        'listDepts',
        'importDepts',
        'listTenants',
        'patchTenant',
      ]) as string[],
    );
    expect(danglingRefs(document)).toEqual([]);
    for (const { responses } of operations())
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', 'default']) as string[]);
  });

  it('a document of a host names the refusals that are the operation alone has', () => {
    const { responses } = document.paths['/system/dept-api']!.post as unknown as {
      responses: Record<string, { description: string; content: object }>;
    };
    expect(responses['404']!.description).toBe('`PARENT_NOT_FOUND`');
    for (const status of ['404', '409', 'default'])
      expect(JSON.stringify(responses[status]!.content)).toContain('TenantryRefusalEnvelope');
  });

  it('a document of a host names the permission of every operation, for programs and in words', () => {
    for (const { operationId, description, 'x-permission': permission } of operations()) {
      expect([operationId, permission]).toEqual([
        operationId,
        expect.stringMatching(/^\w+:(read|write|spend)$/),
      ]);
      expect(description).toContain(`Permission: \`${permission}\`.`);
    }
  });

  it('a document of a host grows by at most 120 kB', () => {
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [SIZE, host.database.folder, ...args], { cwd: ROOT, encoding: 'utf8' });
    const growth = Number(run('with')) - Number(run('without'));
    expect(growth).toBeGreaterThan(50_000);
    expect(growth).toBeLessThanOrEqual(120_000);
  });

  it("a document of a host tells what Tenantry's decorators refuse on its handlers, beside what the host tells", () => {
    const schema = (name: string) => ({
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
    });
    const responses = (path: string, method: 'get' | 'post' = 'post') =>
      document.paths[`/host/reports${path}`]![method]!.responses as Record<string, { description: string }>;
    const reasons = (path: string, status: number, method: 'get' | 'post' = 'post') =>
      reasonsIn(responses(path, method)[status]!.description);
    const notServed = ['TENANT_DELETED', 'TENANT_DISABLED', 'TENANT_NOT_STARTED', 'TENANT_EXPIRED'];
    expect(Object.keys(responses('', 'get'))).toEqual(['200', '401', '403']);
    expect([reasons('', 401, 'get'), reasons('', 403, 'get').sort()]).toEqual([
      ['TOKEN_MISSING'],
      [...notServed, 'MENU_NOT_LICENSED'].sort(),
    ]);
    expect(Object.keys(responses(''))).toEqual(['202', '400', '401', '403', '409', '422', '503']);
    expect(reasons('', 403).sort()).toEqual([...notServed, 'MENU_NOT_LICENSED'].sort());
    expect(reasons('', 409).sort()).toEqual(['QUOTA_EXCEEDED', 'RESERVATION_OVER']);
    expect(document.paths['/host/reports']!.post!.parameters).toMatchObject([
      { name: 'Idempotency-Key', in: 'header', required: false },
    ]);
    expect(responses('/told')[200]).toMatchObject(schema('TenantDto'));
    expect(responses('/told')[409]).toMatchObject(schema('PackageBo'));
    expect(responses('/told')[409]!.description).toMatch(/^The report is there already\.\s.*QUOTA_EXCEEDED/s);
    expect(responses('/compiled')).toMatchObject({ 201: schema('TenantDto'), 401: {}, 403: {} });
    expect(document.paths['/host/reports/compiled']!.post).toMatchObject({ summary: 'Of a comment' });
    expect(Object.keys(document.paths['/host']!.get!.responses)).toEqual(['200']);
  });

  it('a document of a host is put into another form of answers by the lines of the guide', () => {
    const rename = (_: string, part: unknown): unknown => {
      if (Array.isArray(part)) return part.map((each) => (each === 'msg' ? 'message' : (each as unknown)));
      const { code, msg, data } = (part ?? {}) as Partial<Envelope<unknown>>;
      return code && msg ? { data, code, message: msg } : part;
    };
    const text = JSON.stringify(document);
    expect(text).toContain('"msg"');
    const renamed = JSON.stringify(JSON.parse(text, rename));
    expect(renamed).not.toContain('"msg"');
    const { schemas } = (JSON.parse(renamed) as OpenAPIObject).components!;
    expect(schemas!.TenantryDeptEnvelope).toMatchObject({
      properties: { data: {}, code: {}, message: {} },
      required: expect.arrayContaining(['data', 'code', 'message']) as string[],
    });
  });

  it('a document of a host names the security scheme of the host, and no other', () => {
    for (const { security } of operations()) expect(security).toEqual([{ bearer: [] }]);
  });

  it('a document of a host has no enumeration of a single value, which breaks generated clients', () => {
    expect(JSON.stringify(document).match(/"enum":\[(?:"[^"]*"|null|\d+)\]/g)).toBeNull();
  });

  it('a document of a host is accepted by a linter', () => {
    const file = join(host.database.folder, 'openapi.json');
    // The host's own operations say nothing about themselves.
    const paths = Object.fromEntries(
      Object.entries(document.paths).filter(([path]) => !path.startsWith('/host')),
    );
    writeFileSync(file, JSON.stringify({ ...document, paths }));
    const found = execFileSync(process.execPath, [LINTER, file], { cwd: ROOT, encoding: 'utf8' });
    expect(found.split('\n').filter((line) => line.startsWith('error'))).toEqual([]);
  });
});
