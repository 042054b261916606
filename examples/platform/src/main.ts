import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { openDatabase } from './database.js';
import { PlatformModule } from './platform.module.js';

async function main(): Promise<void> {
  const app = await NestFactory.create(PlatformModule.on(await openDatabase()), {
    logger: ['error', 'warn'],
  });
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT ?? 3100), '127.0.0.1');
  console.log(`The platform listens on ${await app.getUrl()}`);
}

void main();
