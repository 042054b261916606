import { randomBytes } from 'node:crypto';

/** 24 characters, 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
