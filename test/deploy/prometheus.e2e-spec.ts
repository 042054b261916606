import { join } from 'node:path';
import { ROOT, run, withPrograms } from '../support/deploy-tools';

const FOLDER = join(ROOT, 'deploy', 'prometheus');

describe('deploy/prometheus', () => {
  withPrograms(['promtool'], () => {
    it('Prometheus loads its configuration with the alarms', async () => {
      expect(await run('promtool', ['check', 'config', 'prometheus.yml'], FOLDER)).toMatch(/\d+ rules found/);
    });

    it('each alarm goes off on made-up series, and stays silent on those of a healthy service', async () => {
      expect(await run('promtool', ['test', 'rules', 'rules.test.yml'], FOLDER)).toContain('SUCCESS');
    });
  });
});
