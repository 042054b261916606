import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { CreateDeptDto } from '../dept/dept.dto';
import { DeptService } from '../dept/dept.service';
import type { RequestContext } from '../tenancy/request-context';
import { TenantService } from '../tenant/tenant.service';
import type { CreateTenantDto } from '../tenant/tenant.dto';
import type { TenantDto } from '../tenant/tenant-view.dto';
import { ApiClient, type Answer } from './api-client';

/** Where something is made: through the REST API, or inside a host by the services. */
export type SeedTarget = ApiClient | { readonly app: INestApplicationContext; readonly ctx: RequestContext };

type Fields<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** Makes a department; gives its id. */
export async function aDept(place: SeedTarget, fields: Fields<CreateDeptDto> = {}): Promise<number> {
  if (place instanceof ApiClient) return Number(idIn(await place.post('/system/dept-api', fields)));
  return place.app.get(DeptService, { strict: false }).create(place.ctx, fields as CreateDeptDto);
}

/** Makes a tenant below the caller's own; gives it as it is read. */
export async function aTenant(
  place: SeedTarget,
  fields: Fields<CreateTenantDto> = {},
): Promise<Readonly<TenantDto>> {
  const body = { tenantName: 'a tenant', ...fields };
  if (place instanceof ApiClient) {
    const id = idIn(await place.post('/system/tenant-api', body));
    return (await place.get(`/system/tenant-api/${id}`)).body.data as TenantDto;
  }
  const tenants = place.app.get(TenantService, { strict: false });
  return tenants.get(place.ctx, await tenants.create(place.ctx, body as CreateTenantDto));
}

/** Makes an account of the standalone service; gives its id. */
export async function aUser(api: ApiClient, fields: Readonly<Record<string, unknown>> = {}): Promise<number> {
  const username = `user-${randomBytes(6).toString('hex')}`;
  return Number(
    idIn(await api.post('/system/user-api', { username, password: 'a-long-password', ...fields })),
  );
}

function idIn(answer: Answer): string {
  const { location } = answer.headers;
  if (answer.status !== 200 || location === undefined) throw new Error(`Nothing was made: ${answer.text}`);
  return location.slice(location.lastIndexOf('/') + 1);
}
