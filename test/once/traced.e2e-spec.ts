import { join } from 'node:path';
import { aDept } from '../../src/server/testing';
import { ChildService } from '../support/child-service';
import { emptyDatabase } from '../support/test-database';

const HOOK = join(__dirname, '..', 'support', 'tracing-hook.js');
const PATH = '/system/dept-api';

describe('a process that an operator has put under tracing', () => {
  it('answers as ever, and lets every request be known by its route', async () => {
    const database = await emptyDatabase();
    const service = await ChildService.start(database, { NODE_OPTIONS: `--require ${HOOK}` });
    const api = service.as();
    const deptId = await aDept(api);
    const span = async (path: string) => {
      const { status, headers } = await api.get(path);
      return [status, headers['x-span']];
    };
    expect(await span(`${PATH}/${deptId}`)).toEqual([200, `GET ${PATH}/:id`]);
    expect((await api.post(PATH, {})).headers['x-span']).toBe(`POST ${PATH}`);
    expect(await span(`${PATH}/999999999`)).toEqual([404, `GET ${PATH}/:id`]);
    expect(await span('/nowhere')).toEqual([404, 'none']);
    expect(await service.stop()).toBe(0);
    await database.drop();
  });
});
