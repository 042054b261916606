import { Injectable } from '@nestjs/common';
import { Cursors, filtersOf, type PageView } from '../../web/page';
import type { RequestContext } from '../../tenancy/request-context';
import { ZonedTime } from '../../time/zoned-time';
import type { UserListQuery } from './user-list.dto';
import type { UserDto } from './user.dto';
import { toUserDto } from './user.mapper';
import { UserRepository } from './user.repository';

/** Finding accounts. */
@Injectable()
export class UserListService {
  constructor(
    private readonly users: UserRepository,
    private readonly cursors: Cursors,
    private readonly time: ZonedTime,
  ) {}

  /** A page of the accounts that match, in the order of ids. */
  async list(ctx: RequestContext, query: UserListQuery): Promise<PageView<UserDto>> {
    const page = await this.cursors.page(['user', ctx.tenantId, filtersOf(query)], query, (after, limit) =>
      this.users.in(ctx).findPage(query, after, limit),
    );
    return { ...page, rows: page.rows.map((row) => toUserDto(row, this.time)) };
  }
}
