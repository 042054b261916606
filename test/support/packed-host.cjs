/**
 * A host in one file, of the shape that its argument (JSON) asks for. It creates a department, reads it, and prints where that
 * was and what came back.
 */
const { type, database, url, schema, routes, name, snakeCase, context } = JSON.parse(process.argv[2]);
const load = (id) => (type === 'module' ? import(id) : require(id));

async function main() {
  await load('reflect-metadata');
  const { Module, VersioningType } = await load('@nestjs/common');
  const { NestFactory } = await load('@nestjs/core');
  const { TypeOrmModule } = await load('@nestjs/typeorm');
  const { DataSource, DefaultNamingStrategy } = await load('typeorm');
  const tenantry = await load('tenantry');

  const toSnake = (text) => text.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  class SnakeNaming extends DefaultNamingStrategy {
    tableName(className, given) {
      return given ?? toSnake(className);
    }
    columnName(property, given, prefixes) {
      return toSnake([...prefixes, given || property].join('_'));
    }
  }
  class Callers extends tenantry.PrincipalResolver {
    resolve() {
      return { subject: 'me', tenantId: '000000', username: 'me', roles: ['tenant_admin'] };
    }
  }

  const { entities, migrations, SqliteDataSource, TenantryModule } = tenantry;
  const options = { entities, migrations, ...(snakeCase && { namingStrategy: new SnakeNaming() }) };
  const dataSource =
    database === 'sqlite'
      ? new SqliteDataSource({ ...options, database: url.slice('sqlite:'.length) })
      : new DataSource({ ...options, type: database, url, ...(schema && { schema }) });
  await dataSource.initialize();
  if (schema) await dataSource.query(`CREATE SCHEMA ${schema}`);
  await dataSource.runMigrations();

  class HostModule {}
  const imports = [
    TypeOrmModule.forRootAsync({
      ...(name && { name }),
      useFactory: () => ({ ...dataSource.options, ...(name && { name }) }),
      dataSourceFactory: () => Promise.resolve(dataSource),
    }),
    TenantryModule.forRoot({
      principalResolver: new Callers(),
      userDirectory: 'none',
      ...(name && { dataSource: name }),
    }),
  ];
  Module({ imports })(HostModule);

  const quiet = { logger: ['error', 'warn'], abortOnError: false };
  if (context) {
    const services = await NestFactory.createApplicationContext(HostModule, quiet);
    const depts = services.get(tenantry.DeptService, { strict: false });
    const ctx = tenantry.RequestContext.system('000000');
    const { deptName } = await depts.get(ctx, await depts.create(ctx, { deptName: 'Sales' }));
    console.log(`context ${deptName}`);
    return services.close();
  }
  const app = await NestFactory.create(HostModule, quiet);
  if (routes) app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  await app.listen(0, '127.0.0.1');
  const base = (await app.getUrl()) + (routes ? '/api/v1' : '');
  const created = await fetch(`${base}/system/dept-api`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ deptName: 'Sales' }),
  });
  const location = created.headers.get('location');
  const read = await fetch(new URL(location, base));
  console.log(`${location} ${(await read.json()).data.deptName}`);
  await app.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
