import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SeenRow } from './tree-store.js';
import { useSize } from './ui.js';

const LINE = 36;
/** Lines beyond what is seen, so that scrolling shows no gaps. */
const SPARE = 8;
const TYPED_TOGETHER_MS = 700;

interface TreeProps<Id, Row> {
  readonly label: string;
  readonly rows: readonly SeenRow<Id, Row>[];
  readonly nameOf: (row: Row) => string;
  readonly badges: (row: Row) => ComponentChildren;
  readonly selected: Id | null;
  readonly onSelect: (id: Id) => void;
  readonly onToggle: (id: Id, open: boolean) => void;
  readonly mayDrag?: (row: Row) => boolean;
  readonly onDrop?: (id: Id, onto: Id) => void;
  /** Alt with an arrow: one place up or down. */
  readonly onReorder?: (row: Row, by: -1 | 1) => void;
  /** What was refused, told at the line where it happened. */
  readonly notice?: { readonly id: Id; readonly text: string } | null;
}

/** A tree of which only the lines in view are drawn. The arrows, Home, End and letters move in it as in file managers. */
export function Tree<Id extends string | number, Row>(props: TreeProps<Id, Row>): JSX.Element {
  const { label, rows, nameOf, selected, onSelect, onToggle, onReorder, notice } = props;
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  const [top, setTop] = useState(0);
  const typed = useRef({ text: '', at: 0 });
  const dragged = useRef<Id | null>(null);
  const current = rows.findIndex(({ id }) => id === selected);

  useEffect(() => {
    if (current === -1 || !box.current) return;
    const { scrollTop, clientHeight } = box.current;
    const place = current * LINE;
    if (place < scrollTop) box.current.scrollTop = place;
    else if (place + LINE > scrollTop + clientHeight) box.current.scrollTop = place + LINE - clientHeight;
  }, [selected, current]);

  const go = (at: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (row) onSelect(row.id);
  };
  const find = (key: string, isMore: boolean): void => {
    const text = (isMore ? typed.current.text : '') + key.toLowerCase();
    typed.current = { text, at: performance.now() };
    const from = Math.max(0, current + (isMore ? 0 : 1));
    const inTurn = [...rows.slice(from), ...rows.slice(0, from)];
    const match = inTurn.find(({ row }) => nameOf(row).toLowerCase().startsWith(text));
    if (match) onSelect(match.id);
  };
  const handleKey = (event: KeyboardEvent): void => {
    const { key, altKey } = event;
    const isMore = performance.now() - typed.current.at < TYPED_TOGETHER_MS;
    const seen = rows[current];
    if (event.ctrlKey || event.metaKey) return;
    if (altKey && seen && (key === 'ArrowUp' || key === 'ArrowDown'))
      onReorder?.(seen.row, key === 'ArrowUp' ? -1 : 1);
    else if (altKey) return;
    else if (key === 'ArrowDown') go(current + 1);
    else if (key === 'ArrowUp') go(current - 1);
    else if (key === 'Home') go(0);
    else if (key === 'End') go(rows.length - 1);
    else if (key === 'ArrowRight' && seen?.isOpen === false) onToggle(seen.id, true);
    else if (key === 'ArrowRight' && seen?.isOpen) go(current + 1);
    else if (key === 'ArrowLeft' && seen?.isOpen) onToggle(seen.id, false);
    else if (key === 'ArrowLeft' && seen && seen.level > 1)
      go(rows.slice(0, current).findLastIndex(({ level }) => level < seen.level));
    else if (key.length === 1 && (key !== ' ' || isMore)) find(key, isMore);
    else return;
    event.preventDefault();
  };

  const first = Math.max(0, Math.floor(top / LINE) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + height) / LINE) + SPARE);
  const noticeAt = rows.findIndex(({ id }) => id === notice?.id) + 1;
  return (
    <div
      class="tree"
      role="tree"
      tabIndex={0}
      ref={box}
      aria-label={label}
      aria-activedescendant={current === -1 ? undefined : `line-${String(selected)}`}
      onKeyDown={handleKey}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div role="presentation" style={{ height: `${rows.length * LINE}px` }}>
        {rows.slice(first, last).map((seen, at) => (
          <TreeLine {...props} key={seen.id} seen={seen} place={(first + at) * LINE} dragged={dragged} />
        ))}
        {notice && (
          <p class="problem notice" role="alert" style={{ top: `${noticeAt * LINE}px` }}>
            {notice.text}
          </p>
        )}
      </div>
    </div>
  );
}

interface LineProps<Id, Row> extends TreeProps<Id, Row> {
  readonly seen: SeenRow<Id, Row>;
  readonly place: number;
  readonly dragged: { current: Id | null };
}

function TreeLine<Id extends string | number, Row>(props: LineProps<Id, Row>): JSX.Element {
  const { seen, place, dragged, nameOf, badges, selected, onSelect, onToggle, mayDrag, onDrop } = props;
  const { id, row, level, position, siblings, isOpen } = seen;
  const [isTarget, setTarget] = useState(false);
  const name = nameOf(row);
  const toggle = (event: Event): void => {
    event.stopPropagation();
    if (isOpen !== undefined) onToggle(id, !isOpen);
  };
  return (
    <div
      role="treeitem"
      id={`line-${id}`}
      class={isTarget ? 'line target' : 'line'}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={id === selected}
      aria-expanded={isOpen}
      draggable={mayDrag?.(row) ?? false}
      style={{ top: `${place}px`, paddingInlineStart: `min(${level - 0.5}rem, 45%)` }}
      onClick={() => onSelect(id)}
      onDblClick={toggle}
      onDragStart={(event) => {
        dragged.current = id;
        // Firefox drags nothing without data.
        event.dataTransfer?.setData('text/plain', name);
      }}
      onDragEnd={() => (dragged.current = null)}
      onDragOver={(event) => {
        if (!onDrop || dragged.current === null) return;
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        if (dragged.current !== null && dragged.current !== id) onDrop?.(dragged.current, id);
      }}
    >
      <span class="knob" aria-hidden="true" onClick={toggle}>
        {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span class="name">{name}</span>
      {badges(row)}
    </div>
  );
}
