import { readFileSync } from 'node:fs';

/** A tick of the kernel's clock, as all systems of today have it. */
const TICK_MS = 10;

/** The CPU that a process has used so far, all threads, in the kernel and outside. */
export function cpuMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold anything.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}
