import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ServerCertificate extends Certificate {
  /** File of the authority whose certificates clients may show. */
  readonly clientsOf?: string;
}

/** Issues certificates that nobody else trusts; it is made anew for each test run. */
export class Authority {
  readonly #own: Certificate;

  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {
    this.#own = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];
    openssl([
      ...['req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', '2'],
      ...['-out', this.#own.cert, '-keyout', this.#own.key],
      ...extensions.flatMap((each) => ['-addext', each]),
    ]);
  }

  get file(): string {
    return this.#own.cert;
  }

  issue(host: string): Certificate {
    const stem = join(this.folder, `${this.name}-${host}`);
    const [request, extensions] = [`${stem}.csr`, `${stem}.ext`];
    const issued = { cert: `${stem}.pem`, key: `${stem}.key` };
    openssl(['req', ...NEW_KEY, '-subj', `/CN=${host}`, '-out', request, '-keyout', issued.key]);
    writeFileSync(extensions, `subjectAltName=DNS:${host}\n`);
    const { cert, key } = this.#own;
    openssl([
      ...['x509', '-req', '-in', request, '-CA', cert, '-CAkey', key, '-CAcreateserial', '-days', '2'],
      ...['-extfile', extensions, '-out', issued.cert],
    ]);
    return issued;
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
