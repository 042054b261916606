import type { EntityManager } from 'typeorm';
import type { RequestContext } from './request-context';

/** Which departments have users? A port: a host with accounts of its own answers from them. */
export abstract class UserDirectory {
  /**
   * Of these departments, the ones that users belong to. It is asked inside the unit of work that is about to
   * delete them; `manager` is that transaction.
   */
  abstract findOccupied(
    ctx: RequestContext,
    deptIds: readonly number[],
    manager: EntityManager,
  ): Promise<number[]>;
}
