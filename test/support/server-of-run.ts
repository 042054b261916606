import { startInnodb } from './innodb-server';
import { startPostgres } from './postgres-server';
import { serverOf, type ServerKind } from './server-binaries.js';

interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

declare global {
  /** Jest hands nothing else from its set-up to its teardown. */
  var tenantryServers: Map<ServerKind, Started> | undefined;
}

const variableOf = (kind: ServerKind): string => `TENANTRY_TEST_${kind.toUpperCase()}`;

/** The address of the server of this kind that the run has started, or was given. */
export function urlOfServer(kind: ServerKind): string {
  const url = process.env[variableOf(kind)];
  if (!url) throw new Error(`This project has no ${kind} server: see jest.config.js.`);
  return url;
}

/** Jest's global set-up and teardown of the projects that run on this kind of server. */
export function startForRun(kind: ServerKind): () => Promise<void> {
  return async () => {
    const { url, programs, missing } = serverOf(kind);
    if (missing) throw new Error(missing);
    const server = programs && (await (kind === 'postgres' ? startPostgres : startInnodb)(programs));
    if (server) (globalThis.tenantryServers ??= new Map()).set(kind, server);
    // Test workers are started after this and inherit the environment.
    process.env[variableOf(kind)] = url ?? (server as Started).url;
  };
}

export function stopAfterRun(kind: ServerKind): () => Promise<void> {
  return async () => globalThis.tenantryServers?.get(kind)?.stop();
}
