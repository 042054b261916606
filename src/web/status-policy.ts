/** Whether the HTTP status says what `code` says, or is always 200 for clients that look only at `code`. */
export type HttpStatusMode = 'match-code' | 'always-200';

/** The HTTP status that goes with an envelope's `code`. */
export class StatusPolicy {
  constructor(private readonly mode: HttpStatusMode) {}

  statusFor(code: number): number {
    return this.mode === 'always-200' ? 200 : code;
  }
}
