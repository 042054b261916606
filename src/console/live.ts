import { ask, client, Refused } from './api.js';
import type { DeptStore } from './dept-store.js';

const WAIT_S = 25;
const PAUSE_MS = 3000;

/** Follows the journal while the page is seen, and shows what others change. Gives what ends it. */
export function follow(store: DeptStore): () => void {
  const end = new AbortController();
  void watch(store, end.signal);
  return () => end.abort();
}

async function watch(store: DeptStore, ended: AbortSignal): Promise<void> {
  let after = 'now';
  while (!ended.aborted) {
    const changed = new AbortController();
    const signal = AbortSignal.any([changed.signal, ended]);
    document.addEventListener('visibilitychange', () => changed.abort(), { once: true, signal });
    try {
      if (document.hidden) await pause(Infinity, signal);
      else after = await readChanges(store, after, signal);
      store.update({ isFollowing: !document.hidden });
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return;
      store.update({ isFollowing: false });
      // The journal has forgotten the place: begin anew.
      if (error instanceof Refused && error.status === 410) after = await store.load().then(() => 'now');
      else await pause(PAUSE_MS, signal);
    }
  }
}

/** Gives the place in the journal to go on from. */
async function readChanges(store: DeptStore, after: string, signal: AbortSignal): Promise<string> {
  const query = { after, kinds: ['dept' as const], limit: 500, wait: store.isFollowing ? WAIT_S : 0 };
  const page = await ask(() => client.GET('/system/change-api', { params: { query }, signal }));
  if (!store.isFollowing && store.problem !== null) await store.load();
  const ids = page.rows.flatMap(({ id, before, after: now }) => [id, before?.parentId, now?.parentId]);
  const known = new Set(ids.map(Number).filter((id) => id > 0));
  if (known.size > 0) await store.refresh([...known]);
  return page.nextCursor ?? after;
}

/** Ends earlier when the signal fires. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
    if (milliseconds < Infinity) setTimeout(resolve, milliseconds);
  });
}
