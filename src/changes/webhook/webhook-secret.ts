import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { TenantryWebhook } from '../subscription.entity';

type Secrets = Pick<TenantryWebhook, 'secret' | 'oldSecrets'>;

const PREFIX = 'whsec_';
const DAY_MS = 24 * 60 * 60 * 1000;
/** More would not fit into their column; those that were replaced first end early. */
const MOST_OLD = 5;

export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** By which a secret is recognised where it must not be kept. It has 256 bits by chance, so nobody finds it from this. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** A new secret beside those before it, each of which signs for a day after it was replaced. */
export function rotated({ secret, oldSecrets }: Secrets, now: Date): { secret: string; oldSecrets: string } {
  const replaced = `${secret} ${now.getTime() + DAY_MS}`;
  const valid = validOf(oldSecrets, now).map(({ text }) => text);
  return { secret: newSecret(), oldSecrets: [replaced, ...valid].slice(0, MOST_OLD).join(',') };
}

/** The signatures of a text by all secrets that are valid, as a receiver of Standard Webhooks reads them. */
export function signaturesOf({ secret, oldSecrets }: Secrets, content: string, now: Date): string {
  const secrets = [secret, ...validOf(oldSecrets, now).map((old) => old.secret)];
  const signatures = secrets.map((each) => {
    const key = Buffer.from(each.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return signatures.join(' ');
}

function validOf(oldSecrets: string | null, now: Date): { text: string; secret: string }[] {
  return (oldSecrets ?? '').split(',').flatMap((text) => {
    const [secret = '', until] = text.split(' ');
    return Number(until) > now.getTime() ? [{ text, secret }] : [];
  });
}
