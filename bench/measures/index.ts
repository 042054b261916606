import type { Measure } from '../support/result';
import { deleteBatch } from './delete-batch';
import { exportAll } from './export';
import { get, getSqlite } from './get';
import { lists } from './lists';
import { memory } from './memory';
import { move } from './move';
import { moveReads } from './move-reads';
import { post } from './post';
import { start } from './start';
import { statements } from './statements';
import { tree } from './tree';

/** In the order of the table. */
export const measures: readonly Measure[] = [
  get,
  getSqlite,
  statements,
  post,
  move,
  deleteBatch,
  moveReads,
  lists,
  tree,
  exportAll,
  start,
  memory,
];
