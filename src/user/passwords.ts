import { randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';

/** argon2id (the library's default variant) with 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** 24 characters without look-alikes to be had by accident: 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
