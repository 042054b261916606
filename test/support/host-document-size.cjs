/** A host as a process of its own, with the module or without: writes how many bytes its OpenAPI document has. */
require('reflect-metadata');
const { Buffer } = require('node:buffer');
const { join } = require('node:path');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { DocumentBuilder, SwaggerModule } = require('@nestjs/swagger');
const { TypeOrmModule } = require('@nestjs/typeorm');
const { entities, migrations, PrincipalResolver, SqliteDataSource, TenantryModule } = require('../../dist');

const [, , folder, wanted] = process.argv;

class Callers extends PrincipalResolver {
  resolve() {
    return null;
  }
}

class HostModule {}

async function main() {
  const dataSource = new SqliteDataSource({
    database: join(folder, 'document-size.sqlite'),
    entities: [...entities],
    migrations: [...migrations],
    migrationsRun: true,
  });
  const tenantry = TenantryModule.forRoot({ principalResolver: new Callers(), userDirectory: 'none' });
  Module({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => dataSource.options,
        dataSourceFactory: () => Promise.resolve(dataSource),
      }),
      ...(wanted === 'with' ? [tenantry] : []),
    ],
  })(HostModule);
  const app = await NestFactory.create(HostModule, { logger: false });
  await app.init();
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().addBearerAuth().build());
  process.stdout.write(String(Buffer.byteLength(JSON.stringify(document))));
  await app.close();
}

void main();
