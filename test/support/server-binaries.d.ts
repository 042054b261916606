export type ServerKind = 'mariadb' | 'mysql' | 'postgres';
export const SERVER_KINDS: readonly ServerKind[];
export function mariadbBinary(): string | undefined;
export function mysqlBinary(): string | undefined;
export function postgresFolder(): string | undefined;
export function serverOf(kind: ServerKind): { url?: string; programs?: string; missing?: string };
