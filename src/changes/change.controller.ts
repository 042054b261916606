import { Get } from '@nestjs/common';
import { HttpErrors } from '../errors/http.errors';
import { Ctx, type RequestContext } from '../tenancy/request-context';
import { MANAGERS } from '../tenancy/roles';
import { ChangeDto } from '../web/change.dto';
import { QueryParams } from '../web/input';
import { Operation } from '../web/operation.decorator';
import { OrganisationController } from '../web/organisation-controller';
import type { PageView } from '../database/page';
import { IdleRequest, type Idle } from '../web/work-place';
import { ChangeFeed } from './change-feed.service';
import { ChangeQuery } from './change.dto';
import { JournalErrors } from './journal.errors';

const WAIT_BACKWARDS = { zh: '不能与 order=desc 同时使用', en: 'cannot be used with order=desc' };

@OrganisationController('system/change-api', 'Changes')
export class ChangeController {
  constructor(private readonly feed: ChangeFeed) {}

  @Get()
  @Operation({
    id: 'listChanges',
    summary: 'Follow what changes, or look for what has changed',
    description:
      'Changes come in the order of their commits, each with the fields before and after. `nextCursor` goes on from here, also when there is nothing more yet; with `wait` (long poll) the answer comes when there is something. `order=desc` shows the newest first.',
    roles: MANAGERS,
    permission: 'change:read',
    page: ChangeDto,
    refusals: [JournalErrors.CURSOR_GONE, JournalErrors.TOO_MANY_FOLLOWERS],
  })
  list(
    @Ctx() ctx: RequestContext,
    @QueryParams() query: ChangeQuery,
    @IdleRequest() idle: Idle,
  ): Promise<PageView<ChangeDto>> {
    const { after, wait = 0, order, ...filters } = query;
    if (order !== 'desc') {
      return this.feed.since(ctx, after, { ...filters, waitSeconds: wait }, idle);
    }
    if (wait > 0) throw HttpErrors.INVALID({ fields: [{ field: 'wait', message: WAIT_BACKWARDS }] });
    return this.feed.latest(ctx, query);
  }
}
