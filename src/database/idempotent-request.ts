import { createHash, createHmac } from 'node:crypto';

/** What a repeated request is recognised by. */
export interface IdempotencyScope {
  readonly tenantId: string;
  readonly subject: string;
  readonly route: string;
  /** Made up by the client. */
  readonly key: string;
}

/** As long as the id of any other unit, and never equal to one: those are UUIDs. */
const ID_LENGTH = 36;

/** A request that shall take effect once, however often it arrives. */
export class IdempotentRequest {
  readonly unitId: string;
  readonly bodyHash: string;

  constructor(
    { tenantId, subject, route, key }: IdempotencyScope,
    body: string | Buffer,
    /** Called when the answer is one that was given before. */
    readonly onReplay: () => void = () => undefined,
  ) {
    const scope = JSON.stringify([tenantId, subject, route, key]);
    this.unitId = createHash('sha256').update(scope).digest('base64url').slice(0, ID_LENGTH);
    // Keyed by what is not stored: a body may hold a password, and the hash of one could be guessed.
    this.bodyHash = createHmac('sha256', key).update(body).digest('hex');
  }
}
