import { Module } from '@nestjs/common';
import { ShutdownState } from './shutdown-state';
import { DatabaseHealth } from './database-health';
import { HealthController } from './health.controller';

@Module({ controllers: [HealthController], providers: [DatabaseHealth, ShutdownState] })
export class HealthModule {}
