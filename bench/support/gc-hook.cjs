// Collects garbage when it is told to, so that memory can be compared at rest. Needs --expose-gc.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
});
