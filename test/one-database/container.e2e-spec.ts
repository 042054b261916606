import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describeDatabase } from '../../src/database/database-url';
import { parseEnv } from '../../src/server/config/env';
import { DOCKERFILE as dockerfile, imageSettings } from '../support/image-settings';

const ROOT = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  readonly '<<': Partial<Service>;
  readonly environment: Record<string, string>;
  readonly image?: string;
  readonly read_only: boolean;
  readonly mem_limit: string;
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly depends_on?: Record<string, { readonly required?: boolean }>;
}
interface Compose {
  readonly services: Record<string, Service>;
  readonly volumes: Record<string, null>;
}

const compose = load(read('docker-compose.yml')) as Compose;
const services = Object.entries(compose.services).map(
  ([name, service]) => [name, { ...service['<<'], ...service }] as const,
);
/** What the images declare. A volume without a name is made for it wherever nothing is mounted there. */
const DECLARED_VOLUMES: Record<string, string> = {
  mariadb: '/var/lib/mysql',
  postgres: '/var/lib/postgresql/data',
  redis: '/data',
  'prom/prometheus': '/prometheus',
};

describe('the image and the compose file', () => {
  /** What the service sees under `docker compose up`, with these variables in the shell. */
  const settings = (shell: Record<string, string>) => {
    const { environment } = compose.services.tenantry!;
    const filled = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(
        /\$\{(\w+):([-?])([^}]*)\}/g,
        (_, variable: string, kind: string, text: string) => shell[variable] ?? (kind === '-' ? text : ''),
      ),
    ]);
    // An empty one is not set.
    const given = Object.fromEntries(filled.filter(([, value]) => value !== '')) as Record<string, string>;
    return parseEnv({ ...imageSettings, ...given });
  };
  const secrets = { DB_PASSWORD: 'letters123', JWT_SECRET: 'x'.repeat(32), ADMIN_PASSWORD: 'a-password' };

  it('the compose file opens Swagger UI, and closes it where DOCS=off says so', () => {
    expect(settings(secrets)).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', DOCS: 'on' });
    expect(settings({ ...secrets, DOCS: 'off' }).DOCS).toBe('off');
    expect(() => settings({ ...secrets, JWT_SECRET: '' })).toThrow('JWT_SECRET');
  });

  it('the compose file uses MariaDB, or with DB=postgres PostgreSQL, and Redis where it is named', () => {
    const url = ({ DATABASE_URL }: ReturnType<typeof settings>) => describeDatabase(DATABASE_URL);
    expect(url(settings(secrets))).toBe('MySQL tenantry@mysql:3306/tenantry');
    expect(url(settings({ ...secrets, DB: 'postgres' }))).toBe('PostgreSQL tenantry@postgres:5432/tenantry');
    expect(settings(secrets).REDIS_URL).toBeUndefined();
    expect(settings({ ...secrets, REDIS_URL: 'redis://redis:6379' }).REDIS_URL).toBe('redis://redis:6379');
  });

  it('the compose file has the metrics where its Prometheus asks for them', () => {
    const { METRICS_PORT, METRICS_HOST } = settings(secrets);
    expect(METRICS_HOST).toBe('0.0.0.0');
    expect(read('deploy/prometheus/prometheus.yml')).toContain(`['tenantry:${METRICS_PORT}']`);
  });

  it.each(services)(
    'a service of the compose file has a read-only root, a limit, and no volume without a name: %s',
    (name, service) => {
      expect([service.read_only, service.mem_limit]).toEqual([true, expect.stringMatching(/^\d+[mg]$/)]);
      const mounts = (service.volumes ?? []).map((each) => each.split(':'));
      for (const [source = ''] of mounts)
        if (source.startsWith('.')) expect([source, existsSync(join(ROOT, source))]).toEqual([source, true]);
        else expect(Object.keys(compose.volumes)).toContain(source);
      const declared = DECLARED_VOLUMES[service.image?.split(':')[0] ?? ''];
      if (declared !== undefined)
        expect([...mounts.map(([, target]) => target), ...(service.tmpfs ?? [])]).toContain(declared);
      // Who depends on a service of a profile does without it where the profile is not chosen.
      const { depends_on: needed = {} } = service;
      for (const other of Object.keys(needed))
        expect([name, other, needed[other]?.required ?? true]).toEqual([
          ...[name, other, compose.services[other]?.profiles === undefined],
        ]);
    },
  );

  it('the image declares no volume', () => {
    expect(dockerfile).not.toMatch(/^VOLUME/m);
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
