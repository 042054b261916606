import type { Type } from '@nestjs/common';
import type { OwnTables } from '../database/dialect';
import type { Permissions } from '../tenancy/permissions';
import type { Journalled } from './journalled-rows.repository';

/**
 * A resource as the rest of the library knows it: an object in the resource's own room, which `src/resources.ts` lists. Journal,
 * doctor, start checks, transactions of hosts, tables and documents read it.
 */
export interface Resource extends OwnTables {
  /** What its controllers call it in OpenAPI documents, and what that is. */
  readonly tag: { readonly name: string; readonly description: string };
  /** What callers may be allowed to do with it. */
  readonly permissions: Permissions;
  /** Its module without routes, and with them. */
  readonly services: Type;
  readonly routes: Type;
  /** How the journal keeps it; what has no entries there has none. */
  readonly journal?: Journalled;
}
