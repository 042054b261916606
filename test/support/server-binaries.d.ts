export function mariadbBinary(): string | undefined;
export const LOUD: string;
export function postgresFolder(): string | undefined;
export const LOUD_POSTGRES: string;
