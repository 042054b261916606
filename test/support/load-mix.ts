import type { DataSource } from 'typeorm';
import { aDept, mintToken } from '../../src/server/testing';
import type { ChildService } from './child-service';
import { rawRequest } from './load';
import { aTenantRow } from './seeds';

const PATH = '/system/dept-api';
const DEPTS = 30;

/**
 * What users of one new tenant ask for: of ten requests eight for a department by its id, one for a list of twenty, and one that
 * makes a department. Each user's token has been seen by the service when this is over.
 */
export async function mixOfTenant(
  service: ChildService,
  dataSource: DataSource,
  users = 1,
): Promise<string[]> {
  const tenantId = await aTenantRow(dataSource);
  const deptIds: number[] = [];
  for (let n = 0; n < DEPTS; n += 1) deptIds.push(await aDept(service.as({ tenantId })));
  const requests: string[] = [];
  for (let user = 0; user < users; user += 1) {
    const token = mintToken({ tenantId, username: `user${user}` });
    await service.anonymous.as(token).get(`${PATH}/${deptIds[0]}`);
    const read = (path: string): string => rawRequest('GET', `${PATH}${path}`, token);
    for (const id of deptIds.slice(user % 8, (user % 8) + 8)) requests.push(read(`/${id}`));
    requests.push(read('?limit=20'), rawRequest('POST', PATH, token, { deptName: 'one more' }));
  }
  return requests;
}

/** In turn one of each, so that no tenant's requests come in a row. */
export function interleave(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}
