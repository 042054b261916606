import { Controller, Get, Req, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../auth/public.decorator';
import { EnvelopeInterceptor } from '../../web/envelope';
import { PAGE_POLICY, rootPage, ServiceInfo } from './root-page';

/** For people and programs that open the address of the service: what this is, and where to go on. */
@Public(true)
@ApiExcludeController()
@UseInterceptors(EnvelopeInterceptor)
@Controller()
export class RootController {
  constructor(private readonly info: ServiceInfo) {}

  /** A page, where that is preferred, else JSON. */
  @Get()
  root(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): ServiceInfo | StreamableFile {
    response.vary('Accept');
    if (request.accepts(['json', 'html']) !== 'html') return this.info;
    response.setHeader('Content-Security-Policy', PAGE_POLICY);
    return new StreamableFile(Buffer.from(rootPage(this.info)), { type: 'text/html; charset=utf-8' });
  }
}
