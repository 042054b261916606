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

/** Whether a department is in the data scope of a caller who wants to know. */
export type TellsScope = ((dept: DeptRow) => boolean) | undefined;

export function toDeptRow(
  row: DeptRow,
  time: ZonedTime,
  hasChildren: boolean,
  tellsScope?: TellsScope,
): DeptRowDto {
  // Not a spread, which costs thirty times as much here.
  const view = Object.assign(toDeptView(row, time), { hasChildren });
  return tellsScope ? Object.assign(view, { inScope: tellsScope(row) }) : view;
}

export function toDeptJournal(row: Pick<DeptRow, (typeof DEPT_JOURNALLED)[number]>): JournalFields {
  return pick(row, DEPT_JOURNALLED);
}
