import { Get, Post, Query, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiProduces } from '@nestjs/swagger';
import { Operation } from '../../api/operation.decorator';
import { OrganisationController } from '../../api/organisation-controller.decorator';
import { MANAGERS, READERS } from '../../auth/roles';
import { OnceErrors } from '../../database/once.errors';
import { HttpErrors } from '../../http/http.errors';
import { Ctx } from '../../tenancy/ctx.decorator';
import { RequestContext } from '../../tenancy/request-context';
import { DeptFileBody, type DeptFile } from './dept-file.decorator';
import { ImportQuery, ImportReportDto } from './dept-transfer.dto';
import { DeptTransferService } from './dept-transfer.service';
import { AcceptedFormat, streamFile } from './export-stream';
import { FORMATS, type FileFormat } from './file-format';

const TYPES = FORMATS.map(({ type }) => type);

/** Registered before DeptController, whose `:id` would take these paths. */
@OrganisationController('system/dept-api', 'Departments')
export class DeptTransferController {
  constructor(private readonly transfer: DeptTransferService) {}

  @Get('export')
  @ApiProduces(...TYPES)
  @Operation({
    summary: 'Download all departments, by paths of names',
    roles: READERS,
    refusals: [HttpErrors.NOT_ACCEPTABLE],
  })
  export(@Ctx() ctx: RequestContext, @AcceptedFormat() format: FileFormat): Promise<StreamableFile> {
    return streamFile(format, this.transfer.export(ctx));
  }

  @Post('import')
  @ApiConsumes(...TYPES)
  @ApiBody({ schema: { type: 'string' } })
  @Operation({
    summary: 'Make and change departments as a file says: all of it, or nothing',
    roles: MANAGERS,
    data: ImportReportDto,
    refusals: [OnceErrors.REUSED],
  })
  import(
    @Ctx() ctx: RequestContext,
    @Query() { dryRun }: ImportQuery,
    @DeptFileBody() file: DeptFile,
  ): Promise<ImportReportDto> {
    return dryRun ? this.transfer.rehearse(ctx, file) : this.transfer.import(ctx, file);
  }
}
