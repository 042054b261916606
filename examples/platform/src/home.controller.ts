import { Controller, Get, ImATeapotException } from '@nestjs/common';
import { Open } from './staff/staff.guard.js';

/** Routes that have nothing to do with Tenantry, and work as they would without it. */
@Open(true)
@Controller()
export class HomeController {
  @Get()
  welcome(): { platform: string } {
    return { platform: 'example' };
  }

  @Get('teapot')
  brew(): never {
    throw new ImATeapotException('no coffee here');
  }
}
