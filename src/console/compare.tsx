import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allPages, ask, client, type DeptDiff } from './api.js';
import { deletedDepts, restoreDept } from './dept-actions.js';
import type { DeptStore } from './dept-store.js';
import * as ui from './ui.js';
import { t } from './words.js';

const { Badge, Button, Faint, Field, FieldChanges, Form, Problem, Stamp } = ui;
const MOST_SHOWN = 2000;

/** Shows a department in the tree. */
type Show = (deptId: number) => void;

/** What has changed between two times, in a list and in the colours of the tree. */
export function Compare({ store, onShow }: { store: DeptStore; onShow: Show }): JSX.Element {
  const [rows, setRows] = useState<readonly DeptDiff[] | null>(null);
  const { problem, isBusy, run } = ui.useAction();
  const send = ({ from, to }: ui.Fields): void =>
    run(async () => {
      const found = await allPages((cursor) => {
        const query = { from: ui.toTime(from) ?? '', to: ui.toTime(to), limit: 500, cursor };
        return ask(() => client.GET('/system/dept-api/diff', { params: { query } }));
      }, MOST_SHOWN);
      setRows(found);
      store.update({ marks: new Map(found.map(({ deptId, change }) => [deptId, change])) });
    });
  return (
    <section class="pane" aria-label={t('compare')}>
      <Form onSend={send}>
        <div class="toolbar">
          <Field name="from" type="datetime-local" step="any" required />
          <Field name="to" type="datetime-local" step="any" />
          <Button word="show" kind="main" disabled={isBusy} />
        </div>
      </Form>
      <Problem of={problem} />
      {rows?.length === 0 && <Faint word="noChanges" />}
      <ul class="rows">
        {rows?.map(({ deptId, change, path, pathBefore, fields, by, time }) => (
          <li key={deptId}>
            <Badge kind={change} word={change} />
            <div>
              {change === 'deleted' ? (
                path
              ) : (
                <a href="#list" onClick={() => onShow(deptId)} children={path} />
              )}
              {pathBefore !== null && (
                <FieldChanges of={[{ field: 'parentId', before: pathBefore, after: path }]} />
              )}
              <FieldChanges of={fields.filter(({ field }) => field !== 'parentId')} />
              <Stamp by={by} time={time} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Deleted departments, to bring them back. */
export function Deleted({ onShow }: { onShow: Show }): JSX.Element {
  const { answer, problem } = ui.useAnswer(() => allPages(deletedDepts, MOST_SHOWN), []);
  const action = ui.useAction();
  const restore = async (deptId: number): Promise<void> => {
    await restoreDept(deptId);
    onShow(deptId);
  };
  return (
    <section class="pane" aria-label={t('deletedDepts')}>
      <Problem of={problem ?? action.problem} />
      {answer?.length === 0 && <Faint word="noDeleted" />}
      <ul class="rows">
        {answer?.map(({ deptId, deptName, updateBy, updateTime }) => (
          <li key={deptId}>
            <Button
              word="restore"
              disabled={action.isBusy}
              onClick={() => action.run(() => restore(deptId))}
            />
            <div>
              {deptName} <Stamp by={updateBy} time={updateTime} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
