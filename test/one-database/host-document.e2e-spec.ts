import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Body, Controller, Get, Post } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { TenantryModule } from '../../src/index';
import { HeaderResolver, Host } from '../support/host';

const ROOT = join(__dirname, '..', '..');
const LINTER = join('test', 'support', 'lint-openapi.mjs');

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
      controllers: [HostController],
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
      Object.entries(item as Record<string, { operationId: string; security?: object[]; responses: object }>)
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
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '401', 'default']) as string[]);
  });

  it('a document of a host names the security scheme of the host, and no other', () => {
    for (const { security } of operations()) expect(security).toEqual([{ bearer: [] }]);
  });

  it('a document of a host has no enumeration of a single value, which breaks generated clients', () => {
    expect(JSON.stringify(document).match(/"enum":\[(?:"[^"]*"|null|\d+)\]/g)).toBeNull();
  });

  it('a document of a host is accepted by a linter', () => {
    const file = join(host.database.folder, 'openapi.json');
    // Of the host's own operation, which says nothing about itself.
    const { '/host': _, ...paths } = document.paths;
    writeFileSync(file, JSON.stringify({ ...document, paths }));
    const found = execFileSync(process.execPath, [LINTER, file], { cwd: ROOT, encoding: 'utf8' });
    expect(found.split('\n').filter((line) => line.startsWith('error'))).toEqual([]);
  });
});
