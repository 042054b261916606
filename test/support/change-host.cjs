/** A host as a process of its own, on MariaDB. Its handler of changes writes a line for each to a file, and fails now and then. */
require('reflect-metadata');
const { appendFileSync } = require('node:fs');
const { Injectable, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { TypeOrmModule } = require('@nestjs/typeorm');
const { DataSource } = require('typeorm');
const tenantry = require('../../dist');

const { url, port, file } = JSON.parse(process.argv[2]);

class Callers extends tenantry.PrincipalResolver {
  resolve({ headers }) {
    return { subject: 'me', tenantId: headers['x-tenant'], username: 'me', roles: ['tenant_admin'] };
  }
}

class Follower {
  async take({ tenantId, version, seq }) {
    if (Math.random() < 0.01) throw new Error('now and then');
    appendFileSync(file, `${tenantId} ${version} ${seq}\n`);
  }
}
const { prototype } = Follower;
const method = Object.getOwnPropertyDescriptor(prototype, 'take');
tenantry.OnChange({ name: 'follower', kinds: ['dept'] })(prototype, 'take', method);
Injectable()(Follower);

class HostModule {}

async function main() {
  const dataSource = new DataSource({ type: 'mariadb', url, entities: tenantry.entities });
  await dataSource.initialize();
  const webhooks = { allowPrivateAddresses: true, allowHttp: true };
  Module({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => dataSource.options,
        dataSourceFactory: () => Promise.resolve(dataSource),
      }),
      tenantry.TenantryModule.forRoot({ principalResolver: new Callers(), userDirectory: 'none', webhooks }),
    ],
    providers: [Follower],
  })(HostModule);
  const app = await NestFactory.create(HostModule, { logger: false });
  await app.listen(port, '127.0.0.1');
  console.log('ready');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
