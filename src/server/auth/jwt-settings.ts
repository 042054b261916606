import type { KeyObject } from 'node:crypto';

export const JWT_ALGORITHM = 'HS256';

/** How tokens are signed, and the issuer and audience that they must name. */
export abstract class JwtSettings {
  /** A KeyObject, not text: a text key is parsed again at every check, at 50 times the cost. */
  abstract readonly key: KeyObject;
  abstract readonly issuer: string;
  abstract readonly audience: string;
  /** Whether accounts of this service sign in, and HS256 tokens are accepted. */
  abstract readonly local: boolean;
  /** An outside identity provider, if there is one. */
  abstract readonly outside: OutsideProvider | null;
}

export interface OutsideProvider {
  readonly jwksUri: string;
  /** Where its tokens carry what we need; a dot goes into an object. */
  readonly tenantClaim: string;
  readonly rolesClaim: string;
  readonly usernameClaim: string;
}
