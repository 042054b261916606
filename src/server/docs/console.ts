import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Logger } from '@nestjs/common';
import { loadPart } from '../../errors/load-part';
import { version } from '../config/version';
import { pagePolicy } from './document';

/** What the build has made of `src/console` and of what it imports; also for a service that runs from `src`. */
const BUILT = join(__dirname, '..', '..', '..', 'dist', 'browser');
/** The packages that the console imports, as browsers get them: their modules have no names there, only addresses. */
const PACKAGES: Readonly<Record<string, () => string>> = {
  preact: () => require.resolve('preact'),
  'preact/hooks': () => require.resolve('preact/hooks'),
  'preact/jsx-runtime': () => require.resolve('preact/jsx-runtime'),
  'openapi-fetch': () => join(dirname(require.resolve('openapi-fetch')), 'index.mjs'),
};
const IMPORT = /\b(from|import) ?(["'])([\w@/-]+)\2/g;
const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css' };

interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

/** The page of the console, and the files that it loads. Their address changes with what is in them, so that they can be kept for ever. */
export class ConsolePage {
  static readonly policy = pagePolicy(
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
  );
  readonly html: string;
  readonly #files: ReadonlyMap<string, ConsoleFile>;

  private constructor() {
    const texts = new Map([...builtFiles(), ...packageFiles()]);
    const hash = createHash('sha256')
      .update(JSON.stringify([...texts]))
      .digest('base64url')
      .slice(0, 16);
    this.html = pageOf(`console/${hash}/`, [...texts.keys()]);
    this.#files = new Map([...texts].map(([path, text]) => [`${hash}/${path}`, fileOf(path, text)]));
  }

  /** Null where it cannot be read; the log says why. */
  static load(): ConsolePage | null {
    try {
      return loadPart('The console', ['preact'], () => new ConsolePage());
    } catch (error) {
      new Logger('Console').warn(
        `There is no page at /: ${(error as Error).message}. npm run build makes it.`,
      );
      return null;
    }
  }

  /** By the hash of all files together and the path of one. */
  find(address: string): ConsoleFile | undefined {
    return this.#files.get(address);
  }
}

function builtFiles(): [string, string][] {
  const paths = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(js|css)$/.test(path),
  );
  return paths.sort().map((path) => [path, withAddresses(readFileSync(join(BUILT, path), 'utf8'))]);
}

function packageFiles(): [string, string][] {
  return Object.entries(PACKAGES).map(([name, file]) => [
    addressOf(name),
    withAddresses(readFileSync(file(), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '')),
  ]);
}

function addressOf(name: string): string {
  return `packages/${name.replace('/', '-')}.js`;
}

/** All files are in folders beside each other. */
function withAddresses(text: string): string {
  return text.replace(IMPORT, (whole, word: string, _: string, name: string) =>
    name in PACKAGES ? `${word} "../${addressOf(name)}"` : whole,
  );
}

function fileOf(path: string, text: string): ConsoleFile {
  const body = Buffer.from(text);
  const type = TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { type: `${type}; charset=utf-8`, body, gzipped: gzipSync(body, { level: 9 }) };
}

/** Addresses are relative: a proxy may serve the page below a path. */
function pageOf(base: string, paths: readonly string[]): string {
  const preloaded = paths.filter((path) => path.endsWith('.js'));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tenantry</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}console/style.css">
${preloaded.map((path) => `<link rel="modulepreload" href="${base}${path}">`).join('\n')}
<script type="module" src="${base}console/main.js"></script>
</head>
<body>
<div id="app"></div>
<noscript>Tenantry ${version}: this page needs JavaScript.</noscript>
</body>
</html>
`;
}
