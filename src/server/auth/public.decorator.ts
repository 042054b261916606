import { applyDecorators, Controller, UseFilters, UseInterceptors } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiTags } from '@nestjs/swagger';
import { EnvelopeInterceptor } from '../../web/envelope';
import { EnvelopeExceptionFilter } from '../../web/exception.filter';

/** Opens a route or a controller to callers without a token. */
export const Public = Reflector.createDecorator<true | undefined>({ transform: () => true as const });

/** A controller of this API that needs no token: the envelope, without roles and tenant scope. */
export function OpenController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Public(true),
    Controller(path),
    UseInterceptors(EnvelopeInterceptor),
    UseFilters(EnvelopeExceptionFilter),
    ApiTags(tag),
  );
}
