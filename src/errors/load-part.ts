/**
 * Loads a part of this package that needs packages of its own. They are optional peers, so that a host installs only what it
 * uses; without them the error says what to install.
 */
export function loadPart<T>(part: string, packages: readonly string[], load: () => T): T {
  try {
    return load();
  } catch (error) {
    const absent = /^Cannot find (?:module|package) '((?:@[^/']+\/)?[^/']+)/.exec(
      (error as Error).message,
    )?.[1];
    if (absent === undefined || !packages.includes(absent)) throw error;
    const missing = packages.filter((name) => !isInstalled(name));
    const { dependencies } = require('../../src/server/package.json') as {
      dependencies: Readonly<Record<string, string>>;
    };
    // Nest's own packages must be of the host's version of Nest.
    const versions = missing.map((name) =>
      name.startsWith('@nestjs/') ? name : `${name}@${dependencies[name] ?? 'latest'}`,
    );
    throw new Error(`${part} needs ${missing.join(', ')}: npm i ${versions.join(' ')}`, { cause: error });
  }
}

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== '';
  } catch {
    return false;
  }
}
