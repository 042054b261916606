import type { Journalled } from '../resource/journalled-rows.repository';
import { allResources } from '../resources';
import { INVARIANTS, type Invariant } from './invariants';

/** What a doctor examines beside the trees and the quotas. */
export interface Examined {
  /** Their rows must be as their last entries in the journal say. */
  readonly resources: readonly Journalled[];
  readonly invariants: readonly Invariant[];
}

/** Of every database, a host's too. */
export const LIBRARY: Examined = {
  resources: allResources.flatMap(({ journal = [] }) => journal),
  invariants: INVARIANTS,
};
