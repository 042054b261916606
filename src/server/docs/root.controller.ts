import { Controller, Get, Inject, Param, Req, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { HttpErrors } from '../../errors/http.errors';
import { EnvelopeInterceptor, TextAnswer } from '../../web/envelope';
import { Public } from '../auth/public.decorator';
import { demoAccounts, type DemoAccount } from '../config/demo-accounts';
import { ENV, type Env } from '../config/env';
import { version } from '../config/version';
import { ConsolePage } from './console';

interface ServiceInfo {
  readonly name: string;
  readonly version: string;
  readonly docs: string | null;
  readonly health: { readonly live: string; readonly ready: string };
  /** Of a service that runs on the demo's data, not in production. */
  readonly demoAccounts?: readonly DemoAccount[];
}

/** For people and programs that open the address of the service: the console, or what this is and where to go on. */
@Public(true)
@ApiExcludeController()
@UseInterceptors(EnvelopeInterceptor)
@Controller()
export class RootController {
  #loaded: ConsolePage | null | undefined;

  constructor(@Inject(ENV) private readonly env: Env) {}

  /** A page, where that is preferred, else JSON. */
  @Get()
  root(@Req() request: Request, @Res({ passthrough: true }) response: Response): ServiceInfo | TextAnswer {
    response.vary('Accept');
    const page = request.accepts(['json', 'html']) === 'html' ? this.#page() : null;
    if (!page) return this.#info();
    response.setHeader('Content-Security-Policy', ConsolePage.policy);
    return new TextAnswer('html', page.html);
  }

  /** What the page loads. */
  @Get('console/*path')
  file(
    @Param('path') path: string[],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): StreamableFile {
    const file = this.#page()?.find(path.join('/'));
    if (!file) throw HttpErrors.NO_ROUTE();
    const isPacked = request.acceptsEncodings('gzip') === 'gzip';
    if (isPacked) response.setHeader('Content-Encoding', 'gzip');
    response.vary('Accept-Encoding').setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    return new StreamableFile(isPacked ? file.gzipped : file.body, { type: file.type });
  }

  /** Read when it is first asked for: commands and tests hardly ever do. */
  #page(): ConsolePage | null {
    if (this.env.CONSOLE === 'off') return null;
    if (this.#loaded === undefined) this.#loaded = ConsolePage.load();
    return this.#loaded;
  }

  #info(): ServiceInfo {
    const docs = this.env.DOCS === 'on' ? '/docs' : null;
    const demo = this.env.CONSOLE === 'on' ? demoAccounts(this.env) : [];
    const health = { live: '/health/live', ready: '/health/ready' };
    return { name: 'Tenantry', version, docs, health, ...(demo.length > 0 && { demoAccounts: demo }) };
  }
}
