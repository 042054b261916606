/*
 * Loaded into a service with --require: on SIGUSR2 it prints the longest turn of the event loop since the last time, by the
 * clock and by what its thread worked in it. What it waited for a processor that others had is not its own doing. Linux.
 */
const { readFileSync } = require('node:fs');
const { performance } = require('node:perf_hooks');
const { setInterval } = require('node:timers');

const EVERY_MS = 5;
const STATISTICS = `/proc/self/task/${process.pid}/schedstat`;

/** Milliseconds for which the main thread has had a processor. */
const worked = () => Number(readFileSync(STATISTICS, 'utf8').split(' ')[0]) / 1e6;

let longest = { clock: 0, work: 0 };
let before = { clock: performance.now(), work: worked() };

setInterval(() => {
  const now = { clock: performance.now(), work: worked() };
  longest = {
    clock: Math.max(longest.clock, now.clock - before.clock - EVERY_MS),
    work: Math.max(longest.work, now.work - before.work),
  };
  before = now;
}, EVERY_MS).unref();

process.on('SIGUSR2', () => {
  process.stdout.write(`longest turn ${JSON.stringify(longest)}\n`);
  longest = { clock: 0, work: 0 };
});
