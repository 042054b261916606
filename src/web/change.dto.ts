import type { ChangeView } from '../journal/change-view';
import { CHANGE_KINDS, OPERATIONS, type ChangeKind, type ChangeOperation } from '../journal/change-log';
import { AnyId, ChangedFieldsView, Choice, Int32, Int64, TimeText } from './view-fields';

/** One entry of the journal: what was done to a department, a tenant or an account. */
export class ChangeDto implements ChangeView {
  /** In whose journal it stands; what happens to tenants stands in the platform's. @example "000000" */
  tenantId!: string;
  /** The version of the tenant's tree that this change made. @example 7 */
  @Int64()
  version!: number;
  /** From 0; one version may have several entries. @example 0 */
  @Int32()
  seq!: number;
  /** The version of the entry before this one; 0 if there is none. @example 6 */
  @Int64()
  prev!: number;
  @Choice(...CHANGE_KINDS)
  kind!: ChangeKind;
  @Choice(...OPERATIONS)
  operation!: ChangeOperation;
  /** The department, the tenant or the account. A tenant's is a string. @example 1 */
  @AnyId()
  id!: number | string;
  /** The fields before: all of what was deleted, the changed ones otherwise. Null when it was created or restored. */
  @ChangedFieldsView()
  before!: Record<string, unknown> | null;
  /** The fields after: all of what was created or restored, the changed ones otherwise. Null when it was deleted. */
  @ChangedFieldsView()
  after!: Record<string, unknown> | null;
  /** Who did it. @example admin */
  by!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  time!: string;
  /** `X-Request-Id` of the request that did it; null where there was none. */
  requestId!: string | null;
}
