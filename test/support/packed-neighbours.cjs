/**
 * Hosts with other packages of Nest: messages over TCP in a hybrid application, Fastify without the routes of Tenantry, and a cache for
 * all routes. It prints what came of each.
 */
const { createServer } = require('node:net');
const { once } = require('node:events');
const { type, url } = JSON.parse(process.argv[2]);
const load = (id) => (type === 'module' ? import(id) : require(id));

const SUPERADMIN = { subject: 'eve', tenantId: '000000', username: 'eve', roles: ['superadmin'] };

/** Decorates a method of a class, as TypeScript does. */
function decorate(target, method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, method);
  for (const decorator of decorators.reverse()) decorator(target.prototype, method, descriptor);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function main() {
  await load('reflect-metadata');
  const { Body, Catch, Controller, Module, Post, UseFilters } = await load('@nestjs/common');
  const { APP_INTERCEPTOR, NestFactory } = await load('@nestjs/core');
  const { TypeOrmModule } = await load('@nestjs/typeorm');
  const tenantry = await load('tenantry');
  const { Ctx, PrincipalResolver, Refusal, TenantryModule, TenantScoped, UsesQuota } = tenantry;

  class Callers extends PrincipalResolver {
    resolve({ headers, user }) {
      return user ?? (headers?.authorization === 'Bearer demo' ? SUPERADMIN : null);
    }
  }

  async function make(options, parts, ...adapter) {
    const dataSource = new tenantry.SqliteDataSource({
      database: url.slice('sqlite:'.length),
      entities: [...tenantry.entities],
      migrations: [...tenantry.migrations],
      migrationsRun: true,
    });
    await dataSource.initialize();
    class HostModule {}
    const typeorm = TypeOrmModule.forRootAsync({
      useFactory: () => dataSource.options,
      dataSourceFactory: () => Promise.resolve(dataSource),
    });
    const root = TenantryModule.forRoot({
      principalResolver: new Callers(),
      userDirectory: 'none',
      ...options,
    });
    Module({ ...parts, imports: [typeorm, root, ...(parts.imports ?? [])] })(HostModule);
    return NestFactory.create(HostModule, ...adapter, { logger: false, abortOnError: false });
  }

  async function sendMessages() {
    const { ClientProxyFactory, MessagePattern, Transport } = await load('@nestjs/microservices');
    const { firstValueFrom, throwError } = await load('rxjs');
    class AllCallers extends Callers {
      resolveOther(context) {
        const { token } = context.switchToRpc().getData();
        return token === 'of ann' ? { ...SUPERADMIN, username: 'ann', roles: ['member'] } : null;
      }
    }
    class RefusedMessage {
      catch(refusal) {
        return throwError(() => refusal.getResponse());
      }
    }
    Catch(Refusal)(RefusedMessage);
    class Messages {
      who({ username, roles }) {
        return `${username} ${roles}`;
      }
    }
    Ctx()(Messages.prototype, 'who', 0);
    decorate(Messages, 'who', MessagePattern('who'), TenantScoped());
    UseFilters(RefusedMessage)(Messages);
    Controller()(Messages);
    for (const principalResolver of [new Callers(), new AllCallers()]) {
      const app = await make({ principalResolver }, { controllers: [Messages] });
      const options = { host: '127.0.0.1', port: await freePort() };
      app.connectMicroservice({ transport: Transport.TCP, options });
      await app.startAllMicroservices();
      await app.listen(0, '127.0.0.1');
      const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
      for (const message of [{ user: SUPERADMIN }, { user: SUPERADMIN, token: 'of ann' }]) {
        const answer = firstValueFrom(client.send('who', message));
        console.log('message:', await answer.catch((error) => error.reason ?? error.message));
      }
      client.close();
      await app.close();
    }
  }

  async function serveByFastify() {
    const { FastifyAdapter } = await load('@nestjs/platform-fastify');
    class Texts {
      send({ username }, { code }) {
        return { code, username };
      }
    }
    Ctx()(Texts.prototype, 'send', 0);
    Body()(Texts.prototype, 'send', 1);
    decorate(Texts, 'send', Post(), UsesQuota('sms', { spends: ({ code }) => code === 0 }));
    Controller('texts')(Texts);
    const quotaKinds = [{ name: 'sms', defaultTotal: 1 }];
    const app = await make(
      { controllers: false, quotaKinds },
      { controllers: [Texts] },
      new FastifyAdapter(),
    );
    await app.listen(0, '127.0.0.1');
    const send = async (code, headers = { Authorization: 'Bearer demo' }) => {
      const body = JSON.stringify({ code });
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body };
      const answer = await fetch(`${await app.getUrl()}/texts`, init);
      console.log('Fastify:', answer.status, await answer.text().then((text) => text.slice(0, 60)));
    };
    await send(0, {});
    await send(7);
    await send(0);
    await send(0);
    await app.close();
  }

  async function keepAnswers() {
    const { CacheInterceptor, CacheModule } = await load('@nestjs/cache-manager');
    class CacheByCaller extends CacheInterceptor {
      trackBy(context) {
        const { headers, url } = context.switchToHttp().getRequest();
        return `${headers.authorization} ${url}`;
      }
    }
    for (const useClass of [CacheInterceptor, CacheByCaller]) {
      const providers = [{ provide: APP_INTERCEPTOR, useClass }];
      const app = await make({}, { imports: [CacheModule.register()], providers });
      const start = app.init().then(
        () => 'it starts',
        ({ message }) => message,
      );
      console.log('cache:', await start);
      await app.close().catch(() => undefined);
    }
  }

  await sendMessages();
  await serveByFastify();
  await keepAnswers();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
