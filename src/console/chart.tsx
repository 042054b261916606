import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { BOX_WIDTH, layOut, lineTo, sizeOf, svgOf, textsOf, type ChartBox } from '../dept/chart.js';
import type { DeptRow } from './api.js';
import type { DeptStore } from './dept-store.js';
import { Button, useSize } from './ui.js';
import { t } from './words.js';

const LEAST = 0.1;
const MOST = 3;
const STEP = 1.25;

/** The open departments as boxes and lines, of which only those in view are drawn. */
export function Chart({ store }: { readonly store: DeptStore }): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(frame);
  const [{ x, y, zoom }, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const [isPrinting, setPrinting] = useState(false);
  const boxes = useMemo(
    () => layOut(store.children(0), ({ deptId }) => (store.isOpen(deptId) ? store.children(deptId) : [])),
    [store.version],
  );
  const whole = sizeOf(boxes);
  const pan = (byX: number, byY: number): void =>
    setView((view) => ({ ...view, x: view.x + byX, y: view.y + byY }));
  const zoomBy = (factor: number, atX = width / 2, atY = height / 2): void =>
    setView((view) => {
      const next = Math.min(MOST, Math.max(LEAST, view.zoom * factor));
      const scale = next / view.zoom;
      return { zoom: next, x: atX - (atX - view.x) * scale, y: atY - (atY - view.y) * scale };
    });
  const fit = (): void => {
    const wanted = Math.min(1, width / whole.width, height / whole.height);
    setView({ x: 0, y: 0, zoom: Math.max(LEAST, wanted) });
  };
  useEffect(() => {
    const element = frame.current;
    const turnWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = (event.currentTarget as Element).getBoundingClientRect();
      if (!event.ctrlKey && !event.metaKey) pan(-event.deltaX, -event.deltaY);
      else zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1, event.clientX - left, event.clientY - top);
    };
    // Not by an attribute: such a listener may not keep the page from scrolling.
    element?.addEventListener('wheel', turnWheel, { passive: false });
    return () => element?.removeEventListener('wheel', turnWheel);
  }, []);
  useEffect(() => {
    if (!isPrinting) return;
    print();
    setPrinting(false);
  }, [isPrinting]);
  const [left, top] = [-x / zoom, -y / zoom];
  const seen = boxes.filter((box) => isPrinting || touches(box, left, top, width / zoom, height / zoom));
  const frameSize = isPrinting ? { viewBox: `0 0 ${whole.width} ${whole.height}` } : { width, height };
  return (
    <>
      <div class="toolbar">
        <Button word="zoomIn" sign="+" onClick={() => zoomBy(STEP)} />
        <Button word="zoomOut" sign="−" onClick={() => zoomBy(1 / STEP)} />
        <Button word="fit" onClick={fit} />
        <Button word="saveSvg" onClick={() => saveSvg(boxes)} />
        <Button word="print" onClick={() => setPrinting(true)} />
      </div>
      <div
        class="chart"
        ref={frame}
        onPointerMove={(event) => event.buttons > 0 && pan(event.movementX, event.movementY)}
      >
        <svg role="img" aria-label={t('chart')} {...frameSize}>
          <g transform={isPrinting ? '' : `translate(${x} ${y}) scale(${zoom})`}>
            <path d={seen.map(lineTo).join('')} />
            {seen.map((box) => (
              <Box key={box.dept.deptId} box={box} store={store} />
            ))}
          </g>
        </svg>
      </div>
    </>
  );
}

/** Whether a box, or the line to its parent, is in a part of the drawing. */
function touches(
  { x, y, height, parent }: ChartBox<DeptRow>,
  left: number,
  top: number,
  wide: number,
  high: number,
) {
  const upper = Math.min(y, parent?.y ?? y);
  const lower = Math.max(y + height, parent ? parent.y + parent.height : 0);
  return (parent?.x ?? x) < left + wide && x + BOX_WIDTH > left && upper < top + high && lower > top;
}

function Box({ box, store }: { readonly box: ChartBox<DeptRow>; readonly store: DeptStore }): JSX.Element {
  const { x, y, height, dept } = box;
  const { deptId, status, hasChildren } = dept;
  const isOpen = store.isOpen(deptId);
  const states = [
    status !== '0' && 'disabled',
    store.marks.get(deptId),
    store.selected === deptId && 'selected',
  ];
  return (
    <g class={['box', ...states].filter(Boolean).join(' ')}>
      <g onClick={() => store.select(deptId)}>
        <rect x={x} y={y} width={BOX_WIDTH} height={height} rx="6" />
        {textsOf(box).map((line) => (
          <text key={line.y} x={line.x} y={line.y} class={line.isName ? '' : 'leader'} children={line.text} />
        ))}
      </g>
      {hasChildren && (
        <g class="knob" onClick={() => void store.toggle(deptId)}>
          <title>{t(isOpen ? 'fold' : 'unfold')}</title>
          <circle cx={x + BOX_WIDTH} cy={y + height / 2} r="9" />
          <path d={`M${x + BOX_WIDTH - 4} ${y + height / 2}h8${isOpen ? '' : 'm-4 -4v8'}`} />
        </g>
      )}
    </g>
  );
}

function saveSvg(boxes: readonly ChartBox<DeptRow>[]): void {
  const file = new Blob([svgOf(boxes, t('departments'))], { type: 'image/svg+xml' });
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href, download: 'organisation.svg' }).click();
  URL.revokeObjectURL(href);
}
