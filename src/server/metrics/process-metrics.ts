import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Observed, type Family } from './registry';

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION = 10;
const NANOSECOND = 1e-9;

/** The process and its event loop, under the names that dashboards for Node know. */
export class ProcessMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  #loop = performance.eventLoopUtilization();

  readonly families: readonly Family[] = [
    cpu('user', 'process_cpu_user_seconds_total', 'Seconds of CPU in the program.'),
    cpu('system', 'process_cpu_system_seconds_total', 'Seconds of CPU in the system.'),
    gauge('process_start_time_seconds', 'When the process began, in Unix time.', () =>
      Math.round(performance.timeOrigin / 1000),
    ),
    memory('rss', 'process_resident_memory_bytes', 'Memory that the process has.'),
    memory('heapTotal', 'nodejs_heap_size_total_bytes', 'Heap that V8 has taken.'),
    memory('heapUsed', 'nodejs_heap_size_used_bytes', 'Heap that is in use.'),
    memory('external', 'nodejs_external_memory_bytes', 'Memory outside the heap, buffers included.'),
    ...openFiles(),
    gauge(
      'nodejs_eventloop_utilization',
      'Share of time in which the event loop was busy, since the last look.',
      () => this.#utilisation(),
    ),
    new Observed(
      'nodejs_eventloop_lag_seconds',
      'How late the event loop came to its timers since the last look.',
      'gauge',
      () => this.#lags(),
    ),
  ];

  constructor() {
    this.#delay.enable();
  }

  close(): void {
    this.#delay.disable();
  }

  #utilisation(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#loop);
    this.#loop = now;
    return utilization;
  }

  #lags(): (readonly [{ quantile: string }, number])[] {
    const late = (nanoseconds: number): number =>
      Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds * NANOSECOND - RESOLUTION / 1000) : 0;
    const { max } = this.#delay;
    const lags = [0.5, 0.99].map(
      (share) => [{ quantile: String(share) }, late(this.#delay.percentile(share * 100))] as const,
    );
    this.#delay.reset();
    return [...lags, [{ quantile: '1' }, late(max)]];
  }
}

function gauge(name: string, help: string, read: () => number): Family {
  return new Observed(name, help, 'gauge', () => [[{}, read()]]);
}

function memory(part: 'rss' | 'heapTotal' | 'heapUsed' | 'external', name: string, help: string): Family {
  return gauge(name, help, () => process.memoryUsage()[part]);
}

function cpu(part: 'user' | 'system', name: string, help: string): Family {
  return new Observed(name, help, 'counter', () => [[{}, process.cpuUsage()[part] / 1e6]]);
}

/** Only Linux tells. */
function openFiles(): Family[] {
  if (process.platform !== 'linux') return [];
  const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return [
    gauge('process_open_fds', 'Open files and sockets.', () => readdirSync('/proc/self/fd').length),
    ...(most === undefined ? [] : [gauge('process_max_fds', 'How many may be open.', () => Number(most))]),
  ];
}
