import type { KeyObject } from 'node:crypto';

export const JWT_ALGORITHM = 'HS256';

/** How tokens are signed and whom they must name. */
export abstract class JwtSettings {
  /** A KeyObject, not text: a text key is parsed again at every check, at 50 times the cost. */
  abstract readonly key: KeyObject;
  abstract readonly issuer: string;
  abstract readonly audience: string;
}
