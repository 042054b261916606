import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, withPrograms } from '../support/deploy-tools';

/** Of kustomize and of the Prometheus operator: the schemas of Kubernetes do not have them. */
const OF_OTHERS = ['kustomization.yaml', 'service-monitor.yaml'];

describe('deploy/kubernetes', () => {
  withPrograms(['kubernetes-validate'], () => {
    it('the manifests fit the schemas of Kubernetes, and name nothing that these do not know', async () => {
      const files = ['base', 'monitoring'].flatMap((folder) =>
        readdirSync(join(ROOT, 'deploy', 'kubernetes', folder))
          .filter((name) => !OF_OTHERS.includes(name))
          .map((name) => join('deploy', 'kubernetes', folder, name)),
      );
      const printed = await run('kubernetes-validate', ['--strict', ...files]);
      expect(printed.match(/ passed for resource /g)).toHaveLength(files.length);
    });
  });
});
