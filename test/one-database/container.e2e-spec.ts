import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { parseEnv } from '../../src/server/config/env';
import { DOCKERFILE as dockerfile, imageSettings } from '../support/image-settings';

const ROOT = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Compose {
  readonly services: { readonly tenantry: { readonly environment: Record<string, string> } };
}

describe('the image and the compose file', () => {
  /** What the service sees under `docker compose up`, with these variables in the shell. */
  const settings = (shell: Record<string, string>) => {
    const { environment } = (load(read('docker-compose.yml')) as Compose).services.tenantry;
    const filled = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(
        /\$\{(\w+):([-?])([^}]*)\}/g,
        (_, variable: string, kind: string, text: string) => shell[variable] ?? (kind === '-' ? text : ''),
      ),
    ]);
    return parseEnv({ ...imageSettings, ...(Object.fromEntries(filled) as Record<string, string>) });
  };
  const secrets = { DB_PASSWORD: 'letters123', JWT_SECRET: 'x'.repeat(32), ADMIN_PASSWORD: 'a-password' };

  it('the compose file opens Swagger UI, and closes it where DOCS=off says so', () => {
    expect(settings(secrets)).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', DOCS: 'on' });
    expect(settings({ ...secrets, DOCS: 'off' }).DOCS).toBe('off');
    expect(() => settings({ ...secrets, JWT_SECRET: '' })).toThrow('JWT_SECRET');
  });

  it('the image is built and runs on the Node.js that README names, and not as root', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual(['node:24-bookworm-slim', 'node:24-bookworm-slim']);
    expect(read('README.md')).toContain('Node.js 24 LTS');
    expect(dockerfile).toMatch(/^USER node$/m);
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.20');
  });

  it('the image copies only what .dockerignore lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files]) =>
      files!.split(' '),
    );
    const covers = (path: string) => (file: string) => file === path || file.startsWith(`${path}/`);
    expect(copied.filter((file) => !allowed.some((path) => covers(path)(file)))).toEqual([]);
    expect(allowed.filter((path) => !copied.includes(path))).toEqual([]);
  });
});
