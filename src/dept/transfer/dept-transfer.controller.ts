import { Get, Post, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { LargeAnswer } from '../../web/large-answer';
import { QueryParams } from '../../web/input';
import { Operation } from '../../web/operation.decorator';
import { OrganisationController } from '../../web/organisation-controller';
import { PART_MANAGERS, READERS } from '../../tenancy/roles';
import { PartErrors } from '../../tenancy/access.errors';
import { IdempotencyErrors } from '../../database/database.errors';
import { HttpErrors } from '../../errors/http.errors';
import { Ctx, type RequestContext } from '../../tenancy/request-context';
import { DeptFileBody, AcceptedFormat } from './dept-file.decorator';
import type { DeptFile } from './read-file';
import { TransferErrors } from '../dept.errors';
import { ExportQuery, ImportQuery, ImportReportDto } from './dept-transfer.dto';
import { DeptTransferService } from './dept-transfer.service';
import { FORMATS, type FileFormat } from './file-format';
import { streamFile } from './transfer-streams';

const COMPANY = {
  deptId: 1,
  parentId: 0,
  path: '分公司',
  orderNum: 1,
  leader: '张三',
  phone: null,
  email: null,
  status: '0',
};
const EXAMPLES = [COMPANY, { ...COMPANY, deptId: 2, parentId: 1, path: '分公司/研发部' }];
const exampleOf = (form: FileFormat): string =>
  form.head(false) + EXAMPLES.map((dept) => form.format(dept, false)).join('');
const FILES = Object.fromEntries(FORMATS.map((each) => [each.type, exampleOf(each)]));
// Swagger UI takes whatever has json in its name for JSON, and would put the example into quotes: CSV comes first.
const UPLOADS = Object.fromEntries(
  [...FORMATS].reverse().flatMap((each) => each.sentAs.map((type) => [type, exampleOf(each)])),
);

/** Registered before DeptController, whose `:id` would take these paths. */
@OrganisationController('system/dept-api', 'Departments')
export class DeptTransferController {
  constructor(private readonly transfer: DeptTransferService) {}

  @Get('export')
  @Operation({
    id: 'exportDepts',
    summary: 'Export all departments as a file',
    description:
      'The file is `application/x-ndjson`, or `text/csv` when `Accept` asks for it, and is streamed with parents first. Departments are named by paths of names. A top-level tenant and all below it have one export at a time.',
    roles: READERS,
    permission: 'dept:read',
    file: FILES,
    tellsChangeCursor: true,
    refusals: [HttpErrors.NOT_ACCEPTABLE, TransferErrors.TOO_MANY_EXPORTS],
  })
  export(
    @Ctx() ctx: RequestContext,
    @QueryParams() query: ExportQuery,
    @AcceptedFormat() format: FileFormat,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    return streamFile(format, query, this.transfer.export(ctx, query), response);
  }

  @Post('import')
  @Operation({
    id: 'importDepts',
    summary: 'Import departments from a file, all or nothing',
    description:
      'A file has up to 20,000 departments and 16 MB. A path that exists is changed, any other is created; nothing is deleted. Problems name their line. A file of a `dept_admin` may name any department, and changes those in its part only. A top-level tenant and all below it have one import at a time.',
    roles: PART_MANAGERS,
    permission: 'dept:write',
    upload: UPLOADS,
    data: ImportReportDto,
    refusals: [PartErrors.OUTSIDE_MANAGED, IdempotencyErrors.REUSED, TransferErrors.TOO_MANY_IMPORTS],
  })
  async import(
    @Ctx() ctx: RequestContext,
    @QueryParams() { dryRun }: ImportQuery,
    @DeptFileBody() file: DeptFile,
  ): Promise<ImportReportDto | LargeAnswer> {
    if (!dryRun) return this.transfer.import(ctx, file);
    return LargeAnswer.of(await this.transfer.dryRun(ctx, file));
  }
}
