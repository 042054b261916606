import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { Admission, type AdmissionLimits } from './admission';
import { Doorkeeper } from './doorkeeper';
import { ShortRefusal } from './short-refusal';

/** Keeps the standalone service from taking on more than it can carry; a host has its own server. */
@Module({})
export class AdmissionModule {
  static with(limits: AdmissionLimits): DynamicModule {
    return {
      module: AdmissionModule,
      imports: [AuthModule],
      providers: [{ provide: Admission, useValue: new Admission(limits) }, Doorkeeper, ShortRefusal],
      exports: [Admission, Doorkeeper],
    };
  }
}
