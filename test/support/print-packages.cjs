/** Loaded before a program: at its end it prints the names of all packages that were loaded, on one line. */
process.on('exit', () => {
  const names = Object.keys(require.cache).map(
    (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1],
  );
  process.stdout.write(`\n${JSON.stringify([...new Set(names)].filter(Boolean))}\n`);
});
