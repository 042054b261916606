import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

@Controller('health')
class HealthController {
  @Get('ready')
  ready(): { status: string } {
    return { status: 'ready' };
  }
}

@Module({ controllers: [HealthController] })
class BareModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(BareModule, { logger: false });
  await app.listen(process.env.PORT ?? '', process.env.HOST ?? '');
}

void main();
