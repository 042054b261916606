import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator';
import { DatabaseHealth, type DatabaseReport } from './database-health';

interface Readiness {
  readonly status: 'ready' | 'unready';
  readonly checks: DatabaseReport;
}

/** For process managers and load balancers, outside the envelope. */
@Public(true)
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly database: DatabaseHealth) {}

  /** The process runs and answers. */
  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** Requests can be served: the database is reachable and its schema is this version's. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<Readiness> {
    const checks = await this.database.report();
    const ready = checks.database === 'up' && checks.migrations === 'done';
    response.status(ready ? 200 : 503);
    return { status: ready ? 'ready' : 'unready', checks };
  }
}
