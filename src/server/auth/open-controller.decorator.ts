import { applyDecorators, Controller, UseFilters, UseInterceptors, UsePipes } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from './public.decorator';
import { BodyPipe } from '../../web/body.pipe';
import { EnvelopeInterceptor } from '../../web/envelope';
import { EnvelopeExceptionFilter } from '../../web/exception.filter';

/** A controller of this API that needs no token: the envelope and body checks, without roles and tenant scope. */
export function OpenController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Public(true),
    Controller(path),
    UseInterceptors(EnvelopeInterceptor),
    UsePipes(BodyPipe),
    UseFilters(EnvelopeExceptionFilter),
    ApiTags(tag),
  );
}
