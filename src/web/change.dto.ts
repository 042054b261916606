import { CHANGE_KINDS, OPERATIONS } from '../database/change-log';
import { AnyFields, AnyId, Choice, Int32, Int64, TimeText } from './view-fields';

/** One entry of the journal: what was done to one resource. */
export class ChangeDto {
  /** In whose journal it stands; what happens to tenants stands in the platform's. @example "000000" */
  tenantId!: string;
  /** Of that tenant's tree. It grows with every commit. @example 42 */
  @Int64()
  version!: number;
  /** From 0, within the version. @example 0 */
  @Int32()
  seq!: number;
  /** The version of the entry before this one in the same journal. @example 41 */
  @Int64()
  prev!: number;
  /** @example dept */
  @Choice(...CHANGE_KINDS)
  kind!: string;
  /** @example moved */
  @Choice(...OPERATIONS)
  operation!: string;
  /** The id of the department, account or tenant. @example 1 */
  @AnyId()
  id!: number | string;
  /** Fields as they were: all of one that was deleted, those that have changed of one that was updated or moved; null of a new one. */
  @AnyFields()
  before!: Readonly<Record<string, unknown>> | null;
  /** Fields as they are now: all of a new one, those that have changed otherwise; null of one that was deleted. */
  @AnyFields()
  after!: Readonly<Record<string, unknown>> | null;
  /** The name of the account that did it. @example admin */
  by!: string;
  @TimeText()
  time!: string;
  /** As in the log. */
  requestId!: string | null;
}
