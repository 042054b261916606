import { signToken } from '../../../src/server/auth/token-issuer';
import { aUser, type ApiClient, mintToken } from '../../../src/server/testing';
import { JWT } from '../service-under-test';
import type { IsolationWorld } from './world';

const PASSWORD = 'a-long-password';

/** All that a session can meet, in the child's tenant; and sign-outs that name the session of another. */
export async function signInAndOut(anonymous: ApiClient, { places }: IsolationWorld): Promise<void> {
  const { child, sibling } = places;
  const { code: tenantId } = child;
  const username = 'visitor';
  const userId = await aUser(anonymous.as(mintToken({ tenantId })), { username, password: PASSWORD });
  const login = (password: string) => anonymous.post('/auth/login', { tenantId, username, password });
  await login('wrong-password');
  const tokens = tokensIn(await login(PASSWORD));
  const api = anonymous.as(tokens.accessToken);
  await api.get('/auth/me');
  const renewed = tokensIn(await anonymous.post('/auth/refresh', { refreshToken: tokens.refreshToken }));
  await api.put('/system/user-api/password', { oldPassword: PASSWORD, newPassword: `${PASSWORD} 2` });
  await anonymous.post('/auth/refresh', { refreshToken: renewed.refreshToken });
  const again = tokensIn(await login(`${PASSWORD} 2`));
  await anonymous.as(again.accessToken).post('/auth/logout', undefined);
  // A token of the platform around the service may say any session; it says its tenant, too.
  for (const subject of ['test|somebody', `account:${userId}`]) {
    const mixed = { subject, tenantId, username, roles: ['tenant_admin'] as const };
    await anonymous.as(signToken(mixed, JWT, 600, `${sibling.session}.x`)).post('/auth/logout', undefined);
  }
}

function tokensIn({ body }: { readonly body: { readonly data: unknown } }): {
  readonly accessToken: string;
  readonly refreshToken: string;
} {
  return body.data as { accessToken: string; refreshToken: string };
}
