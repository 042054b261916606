import { run, withPrograms } from '../support/deploy-tools';

describe('the compose file', () => {
  withPrograms(['validate-compose'], () => {
    it('the compose file fits the schema of compose files, and what it names is there', async () => {
      expect(await run('validate-compose', ['docker-compose.yml'])).toContain('is valid');
    });
  });
});
