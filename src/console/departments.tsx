import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeptRow } from './api.js';
import { Chart } from './chart.js';
import { CreateDialog, Details } from './details.js';
import { moveDept } from './dept-actions.js';
import type { DeptStore } from './dept-store.js';
import type { Rights } from './rights.js';
import { Tree } from './tree.js';
import { Badge, Button, Faint, messageOf, Problem, Split, toTime, useStore } from './ui.js';
import { t } from './words.js';

const SEARCH_PAUSE_MS = 250;

interface DepartmentsProps {
  readonly store: DeptStore;
  readonly rights: Rights;
}

/** The tree or the chart, and the chosen department beside it. */
export function Departments({
  store,
  rights,
  isChart,
}: DepartmentsProps & { isChart: boolean }): JSX.Element {
  useStore(store);
  useEffect(() => {
    if (!store.isLoaded) void store.load();
  }, [store]);
  const { selected, asOf, problem } = store;
  const isEmpty = store.children(store.root).length === 0;
  const details = selected !== null && (
    <Details key={selected} store={store} rights={rights} deptId={selected} />
  );
  return (
    <Split word="departments" store={store} details={details}>
      <Toolbar store={store} rights={rights} />
      <Problem of={problem} />
      {store.isTruncated && <p class="hint">{t('truncated')}</p>}
      {asOf !== undefined && (
        <p class="hint">
          {t('asOfNotice', { time: asOf })}{' '}
          <Button word="clear" kind="quiet" onClick={() => void store.showAsOf(undefined)} />
        </p>
      )}
      {store.marks.size > 0 && (
        <p class="hint">
          {t('marked')}{' '}
          <Button word="clear" kind="quiet" onClick={() => store.update({ marks: new Map() })} />
        </p>
      )}
      {!store.isLoaded && problem === null && <Faint word="loading" />}
      {store.isLoaded && isEmpty && <Faint word={store.isSearching ? 'noMatch' : 'noDepts'} />}
      {isChart ? <Chart store={store} /> : <DeptTree store={store} rights={rights} />}
    </Split>
  );
}

function Toolbar({ store, rights }: DepartmentsProps): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => void store.search(text.trim()), SEARCH_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, store]);
  const showAsOf = (value: string): void => {
    setText('');
    void store.showAsOf(toTime(value));
  };
  const showCreated = (created: number): Promise<void> => {
    setCreating(false);
    return store.show(created);
  };
  return (
    <div class="toolbar">
      <input
        type="search"
        value={text}
        maxLength={64}
        aria-label={t('search')}
        placeholder={t('search')}
        disabled={store.asOf !== undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label>
        {t('asOf')}{' '}
        <input
          type="datetime-local"
          step="any"
          value={store.asOf?.replace(' ', 'T') ?? ''}
          onChange={(event) => showAsOf(event.currentTarget.value)}
        />
      </label>
      <Button word="openAll" onClick={() => void store.openAll()} />
      <Button word="closeAll" onClick={() => store.closeAll()} />
      {store.asOf === undefined && rights.mayCreateAtTop && (
        <Button word="create" kind="main" onClick={() => setCreating(true)} />
      )}
      {isCreating && <CreateDialog parentId={0} onClose={() => setCreating(false)} onDone={showCreated} />}
    </div>
  );
}

function DeptTree({ store, rights }: DepartmentsProps): JSX.Element {
  const [notice, setNotice] = useState<{ id: number; text: string } | null>(null);
  const rows = useMemo(() => store.seen(), [store.version]);
  const mayChange = (row: DeptRow): boolean =>
    store.asOf === undefined && !store.isSearching && rights.mayRearrange(row);
  /** A refusal is told where it happened. */
  const tried = (id: number, work: () => Promise<void>): void => {
    setNotice(null);
    void work().catch((error: unknown) => setNotice({ id, text: messageOf(error) }));
  };
  const move = (id: number, onto: number): void =>
    tried(onto, async () => {
      const seen = store.row(id);
      if (seen) await moveDept(seen, onto).finally(() => store.refresh([id, onto]));
      await store.toggle(onto, true);
    });
  const reorder = (row: DeptRow, by: -1 | 1): void => {
    if (mayChange(row)) tried(row.deptId, () => store.reorder(row, by));
  };
  const select = (id: number): void => {
    setNotice(null);
    store.select(id);
  };
  return (
    <Tree
      label={t('departments')}
      rows={rows}
      nameOf={({ deptName }) => deptName}
      badges={({ deptId, status }) => {
        const mark = store.marks.get(deptId);
        return (
          <>
            {mark && <Badge kind={mark} word={mark} />}
            {status !== '0' && <Badge kind="off" word="disabled" />}
          </>
        );
      }}
      selected={store.selected}
      onSelect={select}
      onToggle={(id, open) => void store.toggle(id, open)}
      mayDrag={mayChange}
      onDrop={move}
      onReorder={reorder}
      notice={notice}
    />
  );
}
