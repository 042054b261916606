import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable, Module, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { DataSource, MigrationExecutor } from 'typeorm';
import { Public } from '../auth/public.decorator';

/** Graceful shutdown: whether a stop was requested. The service still serves for a moment, and tells clients to use another one. */
@Injectable()
export class ShutdownState implements BeforeApplicationShutdown {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;

  request(): void {
    this.#controller.abort();
  }

  beforeApplicationShutdown(): void {
    this.request();
  }
}

interface Readiness {
  readonly status: 'ready' | 'unready' | 'stopping';
  readonly checks: {
    readonly database: 'up' | 'down';
    readonly migrations: 'done' | 'pending' | 'unknown';
  };
}

/** A database that does not answer within this time is as good as down. */
const PATIENCE_MS = 2000;
const DOWN: Readiness['checks'] = { database: 'down', migrations: 'unknown' };

const PATH = '/health';

/** Whether it is a route of the controller below, which process managers and load balancers ask every few seconds. */
export function isProbe(route: string): boolean {
  return route.startsWith(`${PATH}/`);
}

/** For process managers and load balancers, outside the envelope. */
@Public(true)
@ApiExcludeController()
@Controller(PATH)
export class HealthController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly shutdown: ShutdownState,
  ) {}

  /** The process runs and answers. */
  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** Requests can be served: the database is reachable, its schema is this version's, and no stop was requested. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<Readiness> {
    const timer = new AbortController();
    const tooLate = sleep(PATIENCE_MS, DOWN, { signal: timer.signal });
    const checks = await Promise.race([this.#askDatabase(), tooLate]).catch(() => DOWN);
    timer.abort();
    const able = checks.database === 'up' && checks.migrations === 'done';
    const status = this.shutdown.signal.aborted ? 'stopping' : able ? 'ready' : 'unready';
    response.status(status === 'ready' ? 200 : 503);
    return { status, checks };
  }

  async #askDatabase(): Promise<Readiness['checks']> {
    const pending = await new MigrationExecutor(this.dataSource).getPendingMigrations();
    return { database: 'up', migrations: pending.length === 0 ? 'done' : 'pending' };
  }
}

@Module({ controllers: [HealthController], providers: [ShutdownState] })
export class HealthModule {}
