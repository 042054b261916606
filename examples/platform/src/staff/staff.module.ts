import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StaffController } from './staff.controller.js';
import { StaffDirectory } from './staff.directory.js';
import { StaffEntity } from './staff.entity.js';
import { StaffPrincipals } from './staff.principals.js';
import { StaffService } from './staff.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([StaffEntity])],
  controllers: [StaffController],
  providers: [StaffService, StaffPrincipals, StaffDirectory],
  exports: [StaffService, StaffPrincipals, StaffDirectory],
})
export class StaffModule {}
