import { Get, Post, Query, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { MANAGERS, READERS } from '../../tenancy/roles';
import { IdempotencyErrors } from '../../database/idempotency.errors';
import { HttpErrors } from '../../errors/http.errors';
import { Ctx } from '../../tenancy/ctx.decorator';
import type { RequestContext } from '../../tenancy/request-context';
import { DeptFileBody, type DeptFile } from './dept-file.decorator';
import { ExportQuery, ImportQuery, ImportReportDto } from './dept-transfer.dto';
import { DeptTransferService } from './dept-transfer.service';
import { AcceptedFormat, streamFile } from './export-stream';
import { FORMATS, type FileFormat } from './file-format';
import { streamReport } from './import-report';
import { TransferErrors } from './transfer.errors';

const COMPANY = { path: '分公司', orderNum: 1, leader: '张三', phone: null, email: null, status: '0' };
const EXAMPLES = [COMPANY, { ...COMPANY, path: '分公司/研发部' }];
const FILES = Object.fromEntries(
  FORMATS.map((each) => [each.type, each.head + EXAMPLES.map((dept) => each.format(dept)).join('')]),
);

/** Registered before DeptController, whose `:id` would take these paths. */
@OrganisationController('system/dept-api', 'Departments')
export class DeptTransferController {
  constructor(private readonly transfer: DeptTransferService) {}

  @Get('export')
  @Operation({
    id: 'exportDepts',
    summary: 'Download all departments, by paths of names',
    description:
      'As `application/x-ndjson`, or as `text/csv` when `Accept` asks for it; streamed, parents first. One at a time per tenant.',
    roles: READERS,
    file: FILES,
    refusals: [HttpErrors.NOT_ACCEPTABLE, TransferErrors.TOO_MANY_EXPORTS],
  })
  export(
    @Ctx() ctx: RequestContext,
    @Query() { bom }: ExportQuery,
    @AcceptedFormat() format: FileFormat,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    return streamFile(format, bom === true, this.transfer.export(ctx), response);
  }

  @Post('import')
  @Operation({
    id: 'importDepts',
    summary: 'Make and change departments as a file says: all of it, or nothing',
    description:
      'Up to 20,000 departments and 16 MB. A path that is there is changed, any other is made; nothing is deleted. Problems are told by line. One at a time per tenant.',
    roles: MANAGERS,
    // Swagger UI takes whatever has json in its name for JSON, and would put the example into quotes.
    upload: Object.fromEntries(Object.entries(FILES).reverse()),
    data: ImportReportDto,
    refusals: [IdempotencyErrors.REUSED, TransferErrors.TOO_MANY_IMPORTS],
  })
  async import(
    @Ctx() ctx: RequestContext,
    @Query() { dryRun }: ImportQuery,
    @DeptFileBody() file: DeptFile,
  ): Promise<ImportReportDto | StreamableFile> {
    return dryRun ? streamReport(await this.transfer.rehearse(ctx, file)) : this.transfer.import(ctx, file);
  }
}
