import { Module } from '@nestjs/common';
import { Stopping } from './shutdown-state';
import { DatabaseHealth } from './database-health';
import { HealthController } from './health.controller';

@Module({ controllers: [HealthController], providers: [DatabaseHealth, Stopping] })
export class HealthModule {}
