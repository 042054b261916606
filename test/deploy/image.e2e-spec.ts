import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient, TEST_SECRET } from '../../src/server/testing';
import { AS_ROOT, withPrograms } from '../support/deploy-tools';
import { freePort } from '../support/free-port';
import { BuiltImage, stopAll } from '../support/built-image';
import { until } from '../support/until';

const SECRETS = { JWT_SECRET: TEST_SECRET, ADMIN_PASSWORD: 'admin-password' };
const NODE = '1000';
const READABLE_FOR_ALL = 0o444;

describe('the image', () => {
  withPrograms([AS_ROOT, 'buildah', 'debootstrap', 'unshare', 'nsenter'], () => {
    let image: BuiltImage;
    beforeAll(async () => {
      image = await BuiltImage.build();
    });
    afterAll(async () => {
      await stopAll();
      await image.remove();
    });

    it('the image adds at most 120 MB to its base', async () => {
      expect(await image.megabytes()).toBeLessThanOrEqual(120);
    });

    it('the image holds what its user would have to compile at each start', () => {
      const [kept = '', ...others] = readdirSync(join(image.root, 'app', 'dist', '.compiled'));
      expect(others).toEqual([]);
      expect(kept).toMatch(/^v24\..*-1000$/);
      const files = readdirSync(join(image.root, 'app', 'dist', '.compiled', kept));
      expect(files.length).toBeGreaterThan(1000);
      const unreadable = files.filter((file) => {
        const { mode } = statSync(join(image.root, 'app', 'dist', '.compiled', kept, file));
        return (mode & READABLE_FOR_ALL) !== READABLE_FOR_ALL;
      });
      expect(unreadable).toEqual([]);
    });

    it('the image answers as user node with a read-only root, leaves no zombie, and SIGTERM ends it with 0', async () => {
      const PORT = String(await freePort());
      const container = await image.start({ ...SECRETS, PORT });
      const api = new ApiClient(`http://127.0.0.1:${PORT}`);
      await until(async () => (await api.get('/health/ready').catch(() => null))?.status === 200).catch(
        () => {
          throw new Error(container.printed);
        },
      );
      const login = await api.post('/auth/login', { username: 'admin', password: SECRETS.ADMIN_PASSWORD });
      expect(login.status).toBe(200);
      expect(container.users).toEqual([NODE, NODE]);
      await expect(container.exec('touch', '/app/new')).rejects.toThrow('Read-only file system');
      const [kind, ...healthCheck] = image.config.Healthcheck.Test;
      expect(kind).toBe('CMD');
      await container.exec('env', `PORT=${PORT}`, ...healthCheck);
      // The parent of the sleep ends first, so it becomes a child of the first process.
      await container.exec('sh', '-c', 'sleep 0.2 & echo left');
      await until(() => container.users.length === 2 && container.zombies.length === 0);
      api.close();
      expect(await container.stop('SIGTERM')).toBe(0);
      expect(container.printed).toContain('stopping');
    });

    it('SIGTERM ends the image also before the service is loaded', async () => {
      const container = await image.start({ ...SECRETS, PORT: String(await freePort()) });
      await container.stop('SIGTERM');
      expect(container.printed).toBe('');
    });
  });
});
