import type { TimeSlices } from '../../time/time-slices';
import { sameNamedPath } from './dept-line';
import type { PlannedLine } from './planned-line';

interface Task {
  readonly planned: PlannedLine;
  /** The sibling of the same name with the number before its own, when that one is made too. */
  before: Task | undefined;
  /** Those that must wait for this one. */
  readonly next: Task[];
  waitsFor: number;
  isDone: boolean;
}

/**
 * The order in which the new departments of one level are made. New ids grow in it, and ids decide about two things: siblings
 * with the same `orderNum` are listed by id, so they are made in the order of the file; siblings with the same name are
 * numbered by id, so they are made in the order of their numbers. An exported file always allows both (the ids that it was
 * made from do); where a file written by hand does not, the numbers win.
 */
export async function makingOrder(
  level: readonly PlannedLine[],
  slices: TimeSlices,
): Promise<readonly PlannedLine[]> {
  const tasks = await tasksOf(level, slices);
  const order: PlannedLine[] = [];
  const ready = tasks.filter(({ waitsFor }) => waitsFor === 0);
  const make = (task: Task): void => {
    task.isDone = true;
    order.push(task.planned);
    for (const next of task.next) {
      next.waitsFor -= 1;
      if (next.waitsFor === 0) ready.push(next);
    }
  };
  const makeReady = async (): Promise<void> => {
    for await (const task of slices.over(ready)) if (!task.isDone) make(task);
    ready.length = 0;
  };
  await makeReady();
  // Only tasks that wait for each other in a circle are left.
  for (const task of tasks) {
    for (const each of undoneUpTo(task)) make(each);
    if (ready.length > 0) await makeReady();
  }
  return order;
}

async function tasksOf(level: readonly PlannedLine[], slices: TimeSlices): Promise<Task[]> {
  const tasks: Task[] = level.map((planned) => {
    return { planned, before: undefined, next: [], waitsFor: 0, isDone: false };
  });
  const byPath = new Map<string, Task>();
  for await (const task of slices.over(tasks)) byPath.set(task.planned.line.path, task);
  const lastByOrder = new Map<string, Task>();
  for await (const task of slices.over(tasks)) {
    const { line } = task.planned;
    if (line.step.nth > 1) task.before = byPath.get(sameNamedPath(line, line.step.nth - 1));
    const order = `${line.fields.orderNum ?? 0} ${line.parentPath ?? ''}`;
    for (const first of [task.before, lastByOrder.get(order)]) {
      if (!first) continue;
      first.next.push(task);
      task.waitsFor += 1;
    }
    lastByOrder.set(order, task);
  }
  return tasks;
}

/** A task and those of the same name before it that are not done, in the order of their numbers. */
function undoneUpTo(task: Task): Task[] {
  const undone: Task[] = [];
  for (let each: Task | undefined = task; each && !each.isDone; each = each.before) undone.push(each);
  return undone.reverse();
}
