import { Controller, Get, Injectable, Module, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator';
import { DatabaseHealth, type DatabaseReport } from './database-health';

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
  readonly checks: DatabaseReport;
}

/** For process managers and load balancers, outside the envelope. */
@Public(true)
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: DatabaseHealth,
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
    const checks = await this.database.report();
    const able = checks.database === 'up' && checks.migrations === 'done';
    const status = this.shutdown.signal.aborted ? 'stopping' : able ? 'ready' : 'unready';
    response.status(status === 'ready' ? 200 : 503);
    return { status, checks };
  }
}

@Module({ controllers: [HealthController], providers: [DatabaseHealth, ShutdownState] })
export class HealthModule {}
