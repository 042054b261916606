import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Refused } from './api.js';
import { isWord, t, type Word } from './words.js';

export type Fields = Readonly<Partial<Record<string, string>>>;

/** Renders again when a store has changed. */
export function useStore(store: { subscribe(listener: () => void): () => void }): void {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  useEffect(() => store.subscribe(() => renderAgain(undefined)), [store]);
}

interface Outcome<T> {
  readonly answer: T | null;
  readonly problem: unknown;
}

/** What a request gave, and why the last one failed; it is sent when the inputs change. */
export function useAnswer<T>(
  send: () => Promise<T>,
  inputs: readonly unknown[],
): Outcome<T> & { readonly reload: () => void } {
  const [outcome, setOutcome] = useState<Outcome<T>>({ answer: null, problem: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    send().then(
      (answer) => isWanted && setOutcome({ answer, problem: null }),
      (problem: unknown) => isWanted && setOutcome(({ answer }) => ({ answer, problem })),
    );
    return () => {
      isWanted = false;
    };
  }, [...inputs, turn]);
  return { ...outcome, reload: () => setTurn((before) => before + 1) };
}

interface Action {
  readonly problem: unknown;
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<unknown>) => void;
}

/** Runs what a person has asked for; why it was refused is kept to be shown. */
export function useAction(): Action {
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>): void => {
    setBusy(true);
    setProblem(null);
    void work()
      .catch(setProblem)
      .finally(() => setBusy(false));
  };
  return { problem, isBusy, run };
}

/** The size of an element, as it changes. */
export function useSize(element: RefObject<Element | null>): Pick<DOMRectReadOnly, 'width' | 'height'> {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setSize(entry.contentRect));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** A refusal in the words of the service. */
export function messageOf(problem: unknown): string {
  if (!(problem instanceof Refused)) return t('offline');
  const { message, fields, retryAfter } = problem;
  if (retryAfter !== null) return `${message}. ${t('retryAfter', { seconds: retryAfter })}`;
  return fields.map(({ field, message: text }) => `${nameOf(field)}: ${text}`).join('; ') || message;
}

/** A field of the API in the language of the page. */
export function nameOf(field: string): string {
  const name = field.split('.').at(-1) ?? field;
  return isWord(name) ? t(name) : name;
}

export function Problem({ of }: { readonly of: unknown }): JSX.Element | null {
  if (of == null) return null;
  return <p class="problem" role="alert" children={messageOf(of)} />;
}

interface ButtonProps {
  readonly word: Word;
  readonly onClick?: () => void;
  readonly kind?: 'main' | 'danger' | 'quiet' | 'back';
  readonly disabled?: boolean;
  /** In the place of the word, which is read aloud then. */
  readonly sign?: string;
}

/** Without something to do it sends its form. */
export function Button({ word, onClick, kind, disabled, sign }: ButtonProps): JSX.Element {
  const more = { class: kind, disabled, onClick, ...(sign && { 'aria-label': t(word), title: t(word) }) };
  return <button type={onClick ? 'button' : 'submit'} {...more} children={sign ?? t(word)} />;
}

type FieldProps = JSX.IntrinsicElements['input'] & { readonly name: string };

export function Field({ name, ...more }: FieldProps): JSX.Element {
  return (
    <label class="field">
      <span>{nameOf(name)}</span>
      <input name={name} {...more} />
    </label>
  );
}

export function StatusField({ value = '0' }: { readonly value?: string }): JSX.Element {
  return (
    <label class="field">
      <span>{t('status')}</span>
      <select name="status">
        <option value="0">{t('enabled')}</option>
        <option value="1" selected={value === '1'} children={t('disabled')} />
      </select>
    </label>
  );
}

type Send<R> = (fields: Fields, changed: Fields) => R;

/** A form that is not sent by the browser: its fields go to `onSend`, and those that differ from what was there at first. */
export function Form({ onSend, children }: { onSend: Send<void>; children: ComponentChildren }): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const initial = useRef<Fields>({});
  const read = (): Fields => Object.fromEntries(new FormData(form.current ?? undefined)) as Fields;
  useEffect(() => void (initial.current = read()), []);
  const send = (event: Event): void => {
    event.preventDefault();
    const fields = read();
    const changed = Object.entries(fields).filter(([name, value]) => value !== initial.current[name]);
    onSend(fields, Object.fromEntries(changed));
  };
  return <form ref={form} onSubmit={send} children={children} />;
}

/** What ends a task: it is done, or given up. */
export interface TaskProps {
  readonly onDone: (...changed: number[]) => Promise<void>;
  readonly onClose: () => void;
}

interface DialogProps {
  readonly title: string;
  /** What its button does. */
  readonly word: Word;
  readonly isDanger?: boolean;
  readonly onSend: Send<Promise<void>>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog of the browser, which keeps the focus and ends with Escape, with a form; a refusal is shown in it. */
export function FormDialog({ title, word, isDanger, onSend, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const { problem, isBusy, run } = useAction();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      <Form onSend={(...sent) => run(() => onSend(...sent))}>
        {children}
        <Problem of={problem} />
        <footer>
          <Button word="cancel" kind="quiet" onClick={onClose} />
          <Button word={word} kind={isDanger ? 'danger' : 'main'} disabled={isBusy} />
        </footer>
      </Form>
    </dialog>
  );
}

interface SplitProps {
  readonly word: Word;
  readonly store: { readonly selected: unknown; select(id: null): void };
  readonly children: ComponentChildren;
  /** Of what was chosen; on a narrow page it is in the place of the list. */
  readonly details: ComponentChildren;
}

export function Split({ word, store, children, details }: SplitProps): JSX.Element {
  const isChosen = store.selected !== null;
  return (
    <div class="split" data-chosen={isChosen}>
      <section class="pane" aria-label={t(word)}>
        {children}
      </section>
      <aside class="pane" aria-label={t('details')}>
        {isChosen ? (
          <Button word={word} kind="back" sign="←" onClick={() => store.select(null)} />
        ) : (
          <Faint word="choose" />
        )}
        {details}
      </aside>
    </div>
  );
}

export function Badge({ kind, word }: { readonly kind: string; readonly word: Word }): JSX.Element {
  return <span class={`badge ${kind}`}>{t(word)}</span>;
}

export function StatusBadge({ status }: { readonly status: string }): JSX.Element {
  return status === '0' ? <Badge kind="good" word="enabled" /> : <Badge kind="off" word="disabled" />;
}

export function Faint({ word }: { readonly word: Word }): JSX.Element {
  return <span class="faint">{t(word)}</span>;
}

export function Facts({ of }: { readonly of: readonly (readonly [Word, ComponentChildren])[] }): JSX.Element {
  return (
    <dl>
      {of.map(([word, value]) => (
        <div key={word}>
          <dt>{t(word)}</dt>
          <dd>{value === '' || value == null ? <Faint word="none" /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface FieldChange {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What a field was and is; those that the page has no word for are hidden. */
export function FieldChanges({ of }: { readonly of: readonly FieldChange[] }): JSX.Element {
  return (
    <ul>
      {of.map(({ field, before, after }) => (
        <li key={field} hidden={!isWord(field)}>
          {nameOf(field)}: <del>{valueOf(field, before)}</del> → <ins>{valueOf(field, after)}</ins>
        </li>
      ))}
    </ul>
  );
}

function valueOf(field: string, value: unknown): string {
  if (field === 'status') return t(value === '0' ? 'enabled' : 'disabled');
  return typeof value === 'string' ? value : value == null ? '–' : JSON.stringify(value);
}

export function Stamp({ by, time }: { readonly by: string; readonly time: string | null }): JSX.Element {
  return <small class="faint">{time === null ? t('never') : t('byAt', { by, time })}</small>;
}

/** What a field for a time holds, as the API takes it: in the time zone of the service. */
export function toTime(value = ''): string | undefined {
  return value === '' ? undefined : value.replace('T', ' ').padEnd(19, ':00');
}
