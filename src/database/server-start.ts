import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { evenly, retry } from '../concurrency/retry';
import type { DatabaseTls } from './database-url';
import { faultOf, isAccessDenied } from './retry-policy';

/** How long a start waits for a database server that is itself still starting. */
const START_WAIT_MS = 30_000;

/** Connects; `onWait` is called when the server is not there yet. */
export function untilReachable<T>(connect: () => Promise<T>, onWait?: () => void): Promise<T> {
  // At the start the password is more likely wrong than being changed.
  const isStarting = (error: unknown) => faultOf(error) !== 'fatal' && !isAccessDenied(error);
  const waitAfter = evenly(500, START_WAIT_MS, isStarting);
  let isFirst = true;
  return retry(connect, (error) => {
    refuseUntrusted(error);
    const wait = waitAfter(error);
    if (wait === null) throw withMessage(error);
    if (isFirst) onWait?.();
    isFirst = false;
    return wait;
  });
}

/** The error of a connection to several addresses at once has a code, and an empty message. */
function withMessage(error: unknown): unknown {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? new Error(code, { cause: error }) : error;
}

/** What the files of an address hold, for Node's TLS. A driver would not say which of them is wrong. */
export function readCertificates({ caFile, own }: DatabaseTls): SecureContextOptions {
  const files = { ca: caFile, cert: own?.certFile, key: own?.keyFile };
  const read = Object.entries(files).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, readNamed(`ssl-${name}`, file)]],
  );
  const certificates = Object.fromEntries(read) as SecureContextOptions;
  try {
    createSecureContext(certificates);
  } catch (error) {
    const options = read.map(([name]) => `ssl-${name}`).join(', ');
    throw new Error(`The files of ${options} cannot be used (${(error as Error).message}).`, {
      cause: error,
    });
  }
  return certificates;
}

function readNamed(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`The file of ${option} cannot be read (${(error as Error).message}).`, { cause: error });
  }
}

/** A certificate does not become good by waiting, and no one should be without encryption because of it. */
function refuseUntrusted(error: unknown): void {
  const { code, message } = error as { code?: string; message: string };
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT' || message === 'The server does not support SSL connections')
    throw new Error('DATABASE_URL asks for TLS (ssl=true), and the database server offers none.');
  const isAboutCertificate = /certificate/i.test(message) || /^(CERT_|ERR_TLS_CERT_)/.test(code ?? '');
  if (!isAboutCertificate || faultOf(error) !== 'unreachable') return;
  throw new Error(
    `The certificate of the database server was refused: ${message}. If an authority of your own or of your provider has issued ` +
      'it, name the file with its certificate in DATABASE_URL (&ssl-ca=/path/ca.pem); the host must be named as in the certificate.',
    { cause: error },
  );
}
