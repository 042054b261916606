export function mariadbBinary(): string | undefined;
export const LOUD: string;
