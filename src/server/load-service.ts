import { loadPart } from '../errors/load-part';

/** What the service needs whatever its settings are. Other packages are loaded where a setting asks for them. */
const PACKAGES = [
  '@nestjs/passport',
  '@nestjs/platform-express',
  '@node-rs/argon2',
  'express',
  'helmet',
  'jsonwebtoken',
  'passport',
  'passport-jwt',
  'pino',
  'rate-limiter-flexible',
  'zod',
];

/** Loads code of the service inside a host, which may have installed the library alone. */
export function loadService<T>(part: string, load: () => T): T {
  return loadPart(part, PACKAGES, load);
}
