/** Where every copy of OpenTelemetry's API looks for what its SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Whether an operator has loaded OpenTelemetry before us. It names its spans by the routes that it sees in the router, so then all
 * requests take that way; what tracing itself costs is far more than the lane saves.
 */
export function isTraced(): boolean {
  return REGISTERED in globalThis;
}
