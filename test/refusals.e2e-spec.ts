import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sign } from 'jsonwebtoken';
import { DeptService } from '../src/dept/dept.service';
import { DatabaseErrors } from '../src/database/database.errors';
import type { ErrorRow, RefusalFactory } from '../src/http/error-catalogue';
import type { Answer } from './support/api-client';
import { aDept, anAccount, aTenant } from './support/seeds';
import { JWT, ServiceUnderTest } from './support/service-under-test';

const SRC = join(__dirname, '..', 'src');
const PATH = '/system/dept-api';

/** Every row of every catalogue, found by the catalogues' file names. */
async function catalogue(): Promise<ErrorRow[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.errors.ts'),
  );
  const modules = await Promise.all(
    files.map((file) => import(join(SRC, file)) as Promise<Record<string, Record<string, RefusalFactory>>>),
  );
  return modules.flatMap((module) =>
    Object.values(module).flatMap((errors) => Object.values(errors).map(({ row }) => row)),
  );
}

describe('the catalogue of refusals', () => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await ServiceUnderTest.start();
  });
  afterAll(() => service.stop());

  /** How each refusal is met. */
  const provoke: Record<string, () => Promise<Answer>> = {
    INVALID_INPUT: () => service.as().get(`${PATH}/x`),
    MALFORMED_REQUEST: () => service.as().post(PATH, '{'),
    ROUTE_NOT_FOUND: () => service.as().get('/x'),
    BODY_TOO_LARGE: () => service.as().post(PATH, { x: 'x'.repeat(300_000) }),
    UNSUPPORTED_MEDIA_TYPE: () => service.as().post(PATH, 'x', { 'content-type': 'text/csv' }),
    EXPECTATION_FAILED: () => service.as().get(PATH, { expect: 'x' }),
    HEADERS_TOO_LARGE: () => service.as().get(PATH, { x: 'x'.repeat(20_000) }),
    REQUEST_TIMEOUT: () => timedOut(),
    INTERNAL_ERROR: () => failing(new Error('bug')),
    DATABASE_UNAVAILABLE: () => failing(DatabaseErrors.UNAVAILABLE()),
    TOKEN_MISSING: () => service.anonymous.get(`${PATH}/1`),
    TOKEN_INVALID: () => service.anonymous.as('e.e.x').get(`${PATH}/1`),
    TOKEN_EXPIRED: () =>
      service.anonymous.as(sign({ iss: 'tenantry', aud: 'tenantry', exp: 1 }, JWT.key)).get(`${PATH}/1`),
    ROLE_REQUIRED: () => service.as({ roles: ['member'] }).post(PATH, {}),
    TENANT_DELETED: () => service.as({ tenantId: '555555' }).get(`${PATH}/1`),
    TENANT_DISABLED: async () =>
      service.as({ tenantId: await aTenant(service.dataSource, { status: '1' }) }).get(`${PATH}/1`),
    TENANT_MISMATCH: () => service.as().post(PATH, { tenantId: '111111' }),
    DEPT_NOT_FOUND: () => service.as().get(`${PATH}/777777`),
    PARENT_NOT_FOUND: () => service.as().post(PATH, { parentId: 777_777 }),
    PARENT_DISABLED: async () =>
      service.as().post(PATH, { parentId: await aDept(service.as(), { status: '1' }) }),
    DEPT_CYCLE: async () => {
      const deptId = await aDept(service.as());
      return service.as().put(PATH, { deptId, parentId: deptId });
    },
    DEPT_HAS_CHILDREN: async () => {
      const parentId = await aDept(service.as());
      await aDept(service.as(), { parentId });
      return service.as().delete(`${PATH}/${parentId}`);
    },
    DEPT_HAS_USERS: async () => {
      const deptId = await aDept(service.as());
      await anAccount(service.dataSource, { tenantId: '000000', deptId });
      return service.as().delete(`${PATH}/${deptId}`);
    },
    DEPT_TOO_DEEP: async () => {
      let parentId = 0;
      for (let depth = 0; depth < 64; depth += 1) parentId = await aDept(service.as(), { parentId });
      return service.as().post(PATH, { parentId });
    },
  };

  it('has each of its rows provoked, with its status, in both languages', async () => {
    const rows = await catalogue();
    expect(rows.map(({ reason }) => reason).sort()).toEqual(Object.keys(provoke).sort());
    for (const { reason, status, zh, en } of rows) {
      const answer = await provoke[reason]!();
      expect([answer.status, answer.body.code, answer.refusal.reason]).toEqual([status, status, reason]);
      expect(answer.body.msg).toBe(zh);
      expect(en).toMatch(/^[ -~]+$/);
    }
  });

  it('is the table in the README', async () => {
    const readme = readFileSync(join(SRC, '..', 'README.md'), 'utf8');
    const told = [...readme.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(
      ([, reason, status]) => `${reason!} ${status!}`,
    );
    expect(told.sort()).toEqual(
      (await catalogue()).map(({ reason, status }) => `${reason} ${status}`).sort(),
    );
  });

  async function failing(error: Error): Promise<Answer> {
    const spy = jest.spyOn(service.app.get(DeptService), 'get').mockRejectedValue(error);
    const answer = await service.as().get(`${PATH}/1`);
    spy.mockRestore();
    return answer;
  }

  /** Node looks for late requests only every 30 s; this tells the server of one at once. */
  function timedOut(): Promise<Answer> {
    const server = service.app.getHttpServer();
    const { hostname, port } = new URL(service.anonymous.baseUrl);
    return new Promise((resolve) => {
      server.once('connection', (socket) => {
        server.emit(
          'clientError',
          Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
          socket,
        );
      });
      let text = '';
      const socket = connect(Number(port), hostname);
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => {
        const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Answer['body'];
        const refusal = body.data as Answer['refusal'];
        resolve({ status: Number(text.split(' ', 2)[1]), headers: {}, text, body, refusal });
      });
    });
  }
});
