import type { JournalFields } from '../journal/change-log';
import { withRevision } from '../database/revision';
import { pick, viewOf } from '../resource/fields';
import type { ZonedTime } from '../time/zoned-time';
import type { DeptDto, DeptRowDto } from './dept.dto';
import { DEPT_JOURNALLED, DEPT_VIEW, type DeptRow } from './dept.entity';

export function toDeptView(row: DeptRow, time: ZonedTime): DeptDto {
  return viewOf(row, DEPT_VIEW, time);
}

/** One department by itself, which can be changed on the condition that it is still the same. */
export function toDeptDto(row: DeptRow & { readonly revision?: number }, time: ZonedTime): DeptDto {
  const view = toDeptView(row, time);
  return row.revision === undefined ? view : withRevision(view, row.revision);
}

export function toDeptRow(row: DeptRow, time: ZonedTime, hasChildren: boolean): DeptRowDto {
  // Not a spread, which costs thirty times as much here.
  return Object.assign(toDeptView(row, time), { hasChildren });
}

export function toDeptJournal(row: Pick<DeptRow, (typeof DEPT_JOURNALLED)[number]>): JournalFields {
  return pick(row, DEPT_JOURNALLED);
}
