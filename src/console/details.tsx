import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allPages, Refused, type Dept } from './api.js';
import * as actions from './dept-actions.js';
import type { DeptFields, TaggedDept } from './dept-actions.js';
import type { DeptStore } from './dept-store.js';
import type { Rights } from './rights.js';
import * as ui from './ui.js';
import { t, type Word } from './words.js';

const { Badge, Button, Facts, Faint, Field, FieldChanges, FormDialog, Problem, Stamp } = ui;

/** How many of the newest changes are shown. */
const MOST_HISTORY = 200;

interface DetailsProps {
  readonly store: DeptStore;
  readonly rights: Rights;
  readonly deptId: number;
}

/** One department: what it is, what was done to it, and what can be done with it. */
export function Details({ store, rights, deptId }: DetailsProps): JSX.Element {
  const [task, setTask] = useState<'edit' | 'create' | 'move' | 'delete' | null>(null);
  const order = ui.useAction();
  const read = () => actions.readDept(deptId, store.asOf);
  const { answer, problem, reload } = ui.useAnswer(read, [store.asOf, store.row(deptId), store.isFollowing]);
  if (!answer) return problem === null ? <Faint word="loading" /> : <Problem of={problem} />;
  const dept = answer.data;
  const row = store.row(deptId);
  const [mayEdit, mayRearrange] = [rights.mayEdit(dept), rights.mayRearrange(dept)];
  const close = (): void => setTask(null);
  const done = async (...changed: number[]): Promise<void> => {
    close();
    await store.refresh([deptId, ...changed]);
    reload();
  };
  const deleted = (): Promise<void> => {
    store.select(null);
    return done();
  };
  return (
    <article class="details">
      <h2>{dept.deptName}</h2>
      <Facts of={factsOf(dept, store)} />
      {store.asOf === undefined && (
        <div class="actions">
          {mayEdit && <Button word="edit" onClick={() => setTask('edit')} />}
          {mayEdit && <Button word="createBelow" onClick={() => setTask('create')} />}
          {mayRearrange && <Button word="moveTo" onClick={() => setTask('move')} />}
          {mayRearrange && <Button word="delete" kind="danger" onClick={() => setTask('delete')} />}
          {mayRearrange && row && !store.isSearching && (
            <>
              <Button word="moveUp" sign="↑" onClick={() => order.run(() => store.reorder(row, -1))} />
              <Button word="moveDown" sign="↓" onClick={() => order.run(() => store.reorder(row, 1))} />
            </>
          )}
        </div>
      )}
      <Problem of={problem ?? order.problem} />
      {task === 'edit' && (
        <EditDialog read={answer} mayDisable={mayRearrange} onDone={done} onClose={close} />
      )}
      {task === 'create' && (
        <CreateDialog parentId={deptId} onClose={close} onDone={(created) => store.show(created)} />
      )}
      {task === 'move' && <MoveDialog rights={rights} dept={dept} onClose={close} onDone={done} />}
      {task === 'delete' && <DeleteDialog read={answer} onClose={close} onDone={deleted} />}
      {store.asOf === undefined && rights.maySeeHistory(dept) && <History deptId={deptId} tag={answer.tag} />}
    </article>
  );
}

function factsOf(dept: Dept, store: DeptStore): [Word, JSX.Element | string | null][] {
  return [
    ['parentId', pathOf(dept, store) || t('topLevel')],
    ['leader', dept.leader],
    ['phone', dept.phone && <a href={`tel:${encodeURIComponent(dept.phone)}`}>{dept.phone}</a>],
    ['email', dept.email && <a href={`mailto:${encodeURIComponent(dept.email)}`}>{dept.email}</a>],
    ['status', <ui.StatusBadge key="status" status={dept.status} />],
    ['orderNum', String(dept.orderNum)],
    ['created', <Stamp key="created" by={dept.createBy} time={dept.createTime} />],
    ['updated', <Stamp key="updated" by={dept.updateBy} time={dept.updateTime} />],
  ];
}

/** The names above a department, as far as they were loaded. */
function pathOf({ ancestors }: Dept, store: DeptStore): string {
  const ids = ancestors.split(',').slice(1).map(Number);
  return ids.map((id) => store.row(id)?.deptName ?? `#${id}`).join(' / ');
}

/** The fields of a department, for a new one or for a change. */
function DeptFieldset({ dept, mayDisable }: { dept?: Dept; mayDisable: boolean }): JSX.Element {
  return (
    <>
      <Field name="deptName" defaultValue={dept?.deptName ?? ''} required maxLength={64} />
      <Field name="leader" defaultValue={dept?.leader ?? ''} maxLength={64} />
      <Field name="phone" type="tel" defaultValue={dept?.phone ?? ''} maxLength={32} />
      <Field name="email" type="email" defaultValue={dept?.email ?? ''} maxLength={100} />
      <Field name="orderNum" type="number" required defaultValue={dept?.orderNum ?? 0} />
      {mayDisable && <ui.StatusField value={dept?.status} />}
    </>
  );
}

function toDeptFields({ orderNum, ...texts }: ui.Fields): DeptFields {
  return orderNum === undefined ? texts : { ...texts, orderNum: Number(orderNum) };
}

export function CreateDialog({
  parentId,
  onDone,
  onClose,
}: ui.TaskProps & { parentId: number }): JSX.Element {
  const title = t(parentId === 0 ? 'create' : 'createBelow');
  const send = async (fields: ui.Fields): Promise<void> =>
    onDone(await actions.createDept({ ...toDeptFields(fields), parentId }));
  return (
    <FormDialog title={title} word="save" onSend={send} onClose={onClose}>
      <DeptFieldset mayDisable />
    </FormDialog>
  );
}

type EditProps = ui.TaskProps & { readonly read: TaggedDept; readonly mayDisable: boolean };

/** Only what was changed is sent. What somebody else has changed meanwhile is shown, not overwritten. */
function EditDialog({ read, mayDisable, onDone, onClose }: EditProps): JSX.Element {
  // As it was when the dialog was opened: the page itself follows what others do.
  const [opened] = useState(read);
  const { deptId } = opened.data;
  const [conflict, setConflict] = useState<{ theirs: TaggedDept; yours: DeptFields } | null>(null);
  const save = async (yours: DeptFields, tag: string): Promise<void> => {
    try {
      if (Object.keys(yours).length > 0) await actions.changeDept(deptId, yours, tag);
      await onDone();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error;
      setConflict({ theirs: await actions.readDept(deptId), yours });
    }
  };
  const send = (_: ui.Fields, changed: ui.Fields): Promise<void> => save(toDeptFields(changed), opened.tag);
  if (!conflict)
    return (
      <FormDialog title={t('edit')} word="save" onSend={send} onClose={onClose}>
        <DeptFieldset dept={opened.data} mayDisable={mayDisable} />
      </FormDialog>
    );
  const { theirs, yours } = conflict;
  const saveAll = (): Promise<void> => save(yours, theirs.tag);
  return (
    <FormDialog title={t('conflict')} word="overwrite" onSend={saveAll} onClose={() => void onDone()}>
      <Stamp by={theirs.data.updateBy} time={theirs.data.updateTime} />
      <FieldChanges of={changesOf(theirs.data, yours)} />
    </FormDialog>
  );
}

type MoveProps = ui.TaskProps & Pick<DetailsProps, 'rights'> & { readonly dept: Dept };

/** Choosing the new parent by its name, for those who do not drag. */
function MoveDialog({ rights, dept, onDone, onClose }: MoveProps): JSX.Element {
  const [text, setText] = useState('');
  const { answer: found } = ui.useAnswer(() => actions.findNamed(text), [text]);
  const send = async ({ parentId }: ui.Fields): Promise<void> => {
    if (parentId === undefined) return;
    await actions.moveDept(dept, Number(parentId));
    await onDone(Number(parentId));
  };
  const title = t('moveTitle', { name: dept.deptName });
  const choices = (found ?? []).filter((row) => row.deptId !== dept.deptId && rights.mayEdit(row));
  return (
    <FormDialog title={title} word="moveHere" onSend={send} onClose={onClose}>
      <label class="field">
        <span>{t('search')}</span>
        <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="choices" role="radiogroup" aria-label={t('moveTo')}>
        {rights.mayCreateAtTop && text === '' && (
          <label>
            <input type="radio" name="parentId" value="0" required /> {t('topLevel')}
          </label>
        )}
        {choices.map((row) => (
          <label key={row.deptId}>
            <input type="radio" name="parentId" value={row.deptId} required /> {row.deptName}{' '}
            <small class="faint">{row.path}</small>
          </label>
        ))}
        {found?.length === 0 && <Faint word="noMatch" />}
      </div>
    </FormDialog>
  );
}

function DeleteDialog({ read, onDone, onClose }: ui.TaskProps & { readonly read: TaggedDept }): JSX.Element {
  const send = async ({ subtree }: ui.Fields): Promise<void> => {
    await actions.deleteDept(read, subtree === 'on');
    await onDone();
  };
  const title = t('deleteTitle', { name: read.data.deptName });
  return (
    <FormDialog title={title} word="delete" isDanger onSend={send} onClose={onClose}>
      <label>
        <input type="checkbox" name="subtree" /> {t('deleteSubtree')}
      </label>
    </FormDialog>
  );
}

function History({ deptId, tag }: { deptId: number; tag: string }): JSX.Element {
  const [isShown, setShown] = useState(false);
  const read = () =>
    isShown ? allPages((cursor) => actions.historyOf(deptId, cursor), MOST_HISTORY) : Promise.resolve(null);
  const { answer: rows, problem } = ui.useAnswer(read, [isShown, tag]);
  return (
    <details onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{t('history')}</summary>
      <Problem of={problem} />
      <ul class="rows">
        {rows?.map(({ version, seq, operation, by, time, before, after }) => (
          <li key={`${version} ${seq}`}>
            <Badge kind={operation} word={operation} />
            <div>
              <Stamp by={by} time={time} />
              {before && after && <FieldChanges of={changesOf(before, after)} />}
            </div>
          </li>
        ))}
      </ul>
      {rows?.length === 0 && <Faint word="noHistory" />}
    </details>
  );
}

type Values = Readonly<Record<string, unknown>>;

function changesOf(before: Values, after: Values): ui.FieldChange[] {
  return Object.keys(after).map((field) => ({ field, before: before[field], after: after[field] }));
}
