import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { parseEnv } from '../../src/server/config/env';
import { imageSettings } from '../support/image-settings';

const FOLDER = join(__dirname, '..', '..', 'deploy', 'kubernetes');
const read = (file: string) => load(readFileSync(join(FOLDER, file), 'utf8'));

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly literals: readonly string[] }[];
}
interface Labelled {
  readonly metadata: { readonly labels: Record<string, string> };
}
interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly startupProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
  readonly readinessProbe: { readonly timeoutSeconds: number };
}
interface Workload extends Labelled {
  readonly spec: {
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: Labelled & {
      readonly spec: {
        readonly containers: readonly [Container];
        readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
      };
    };
  };
}
interface Service extends Labelled {
  readonly spec: {
    readonly selector: Record<string, string>;
    readonly ports: readonly { readonly targetPort: string }[];
  };
}

describe('deploy/kubernetes', () => {
  const deployment = read('base/deployment.yaml') as Workload;
  const job = read('base/migrate-job.yaml') as Workload;
  const [container] = deployment.spec.template.spec.containers;
  const settings = Object.fromEntries(
    (read('base/kustomization.yaml') as Kustomization).configMapGenerator[0]!.literals.map((literal) =>
      literal.split(/=(.*)/).slice(0, 2),
    ),
  ) as Record<string, string>;

  it.each(['base', 'monitoring'])('every manifest is named in the kustomization of %s', (folder) => {
    const manifests = readdirSync(join(FOLDER, folder)).filter((name) => name !== 'kustomization.yaml');
    expect([...(read(`${folder}/kustomization.yaml`) as Kustomization).resources].sort()).toEqual(
      manifests.sort(),
    );
  });

  it('the settings are those that the service understands, and its ports are those of the container', () => {
    const secrets = { JWT_SECRET: 'x'.repeat(32), ADMIN_PASSWORD: 'a-password' };
    // The files are not here.
    const plain = Object.entries(settings).filter(([name]) => !name.endsWith('_FILE'));
    const env = parseEnv({ ...imageSettings, ...Object.fromEntries(plain), ...secrets });
    expect([env.NODE_ENV, env.HOST, env.METRICS_HOST]).toEqual(['production', '0.0.0.0', '0.0.0.0']);
    const ports = container.ports.map(({ name, containerPort }) => [name, containerPort]);
    expect(ports).toEqual([
      ['http', env.PORT],
      ['metrics', env.METRICS_PORT],
    ]);
  });

  it('the secrets are files of the volume that is mounted, and are in no environment', () => {
    const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([name]) => name)).toEqual([
      'JWT_SECRET_FILE',
      'ADMIN_PASSWORD_FILE',
      'DATABASE_URL_FILE',
    ]);
    // The service refuses to have the same setting twice.
    for (const [name] of files)
      expect({ ...imageSettings, ...settings }).not.toHaveProperty(name.replace('_FILE', ''));
    const guide = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    for (const workload of [deployment, job]) {
      const [{ volumeMounts, envFrom }] = workload.spec.template.spec.containers;
      expect(envFrom).toEqual([{ configMapRef: { name: 'tenantry' } }]);
      for (const [, file] of files) {
        const { mountPath } = volumeMounts.find(({ mountPath: path }) => file.startsWith(`${path}/`))!;
        expect(guide).toContain(`--from-literal=${file.slice(mountPath.length + 1)}=`);
      }
    }
  });

  it('services and the budget select the pods of the service, and never those of the job', () => {
    const { labels } = deployment.spec.template.metadata;
    const budget = (read('base/disruption-budget.yaml') as Workload).spec.selector.matchLabels;
    const services = ['base/service.yaml', 'monitoring/metrics-service.yaml'].map(
      (file) => read(file) as Service,
    );
    const selectors = [
      deployment.spec.selector.matchLabels,
      budget,
      ...services.map(({ spec }) => spec.selector),
    ];
    for (const selector of selectors) {
      expect(labels).toMatchObject(selector);
      expect(job.spec.template.metadata.labels).not.toMatchObject(selector);
    }
    const targets = services.flatMap(({ spec }) => spec.ports.map(({ targetPort }) => targetPort));
    expect(targets).toEqual(container.ports.map(({ name }) => name));
    const monitor = (read('monitoring/service-monitor.yaml') as Workload).spec.selector.matchLabels;
    expect(services.map(({ metadata }) => metadata.labels)[1]).toMatchObject(monitor);
    expect(services.map(({ metadata }) => metadata.labels)[0]).not.toMatchObject(monitor);
  });

  it('no pod runs as root or writes to its image, and probes wait longer than the service does', () => {
    for (const { spec } of [deployment, job]) {
      expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      expect(spec.template.spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(true);
      expect(spec.template.spec.containers[0].image).toBe('tenantry');
    }
    // The start waits 30 seconds for the database, and /health/ready two.
    const { startupProbe, readinessProbe } = container;
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(30);
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(2);
  });
});
