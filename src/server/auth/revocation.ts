/** What a replica must look up anew: an account by its subject, a tenant by its code. Nothing secret. */
export interface Revocation {
  readonly kind: 'account' | 'tenant';
  readonly key: string;
}

const FORM = /^(account|tenant) ([\x21-\x7e]{1,128})$/;

/** As it goes from replica to replica. */
export function toMessage({ kind, key }: Revocation): string {
  return `${kind} ${key}`;
}

/** Null for what this version does not know: another one may send it. */
export function fromMessage(message: string): Revocation | null {
  const [, kind, key] = FORM.exec(message) ?? [];
  return kind === undefined || key === undefined ? null : { kind: kind as Revocation['kind'], key };
}
