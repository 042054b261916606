import {
  applyDecorators,
  Controller,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { RolesGuard } from './roles.guard';
import { BodyPipe } from './body.pipe';
import { EnvelopeExceptionFilter } from './exception.filter';
import { OrganisationInterceptor } from './organisation.interceptor';

/**
 * A controller of this API. All it needs rides on it (role check, envelope, tenant scope, body check, errors),
 * so that in a larger platform nothing has to be registered globally.
 */
export function OrganisationController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(path),
    UseGuards(RolesGuard),
    UseInterceptors(OrganisationInterceptor),
    UsePipes(BodyPipe),
    UseFilters(EnvelopeExceptionFilter),
    ApiTags(tag),
    ApiSecurity('password'),
    ApiSecurity('bearer'),
  );
}
