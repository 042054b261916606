import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { sharedComponents } from '../../web/refusal-responses';
import { finishDocument } from './finish-document';
import { HEADERS } from '../../web/openapi-headers';

const DESCRIPTION = `
Departments and tenants for many companies.

- Every answer is \`{ code, msg, data }\`; \`code\` 200 is success. The HTTP status is the same number, unless the service runs with
  \`HTTP_STATUS_MODE=always-200\`; then it is always 200.
- A refused request has \`data.reason\`, a constant to branch on. \`msg\` is for people: Chinese, or English with
  \`Accept-Language: en\`.
- To try things out, press *Authorize* and sign in with user name and password, or paste a token. The first start printed the
  password of \`admin\`, unless \`ADMIN_PASSWORD\` was set. Then create a department: the other examples use it. For
  examples with the id of a tenant, take an id from the list of tenants.
- Numeric ids may also be sent as decimal strings. A null field is the same as one that is not sent. Unknown fields
  are ignored.
- This document: [openapi.json](/docs/openapi.json), [openapi.yaml](/docs/openapi.yaml).
`.trim();

const TAGS = {
  Departments: "The department tree of the caller's tenant.",
  Tenants: "The caller's own tenant, to read it, and every tenant below, to change it.",
  Accounts: "The accounts of the caller's tenant.",
  'Signing in': 'Signing in, tokens, and the signed-in caller.',
};

/** The OpenAPI document of an application. */
export function createDocument(app: INestApplication, version: string): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Tenantry')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/')
    .addOAuth2(
      {
        type: 'oauth2',
        description: 'User name and password. For tenants other than the platform: `tenantCode/username`.',
        flows: { password: { tokenUrl: '/auth/token', refreshUrl: '/auth/token', scopes: {} } },
      },
      'password',
    )
    .addBearerAuth({ type: 'http', description: 'An access token' }, 'bearer');
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const config = builder.build();
  config.components = { ...config.components, ...sharedComponents(), headers: HEADERS };
  return finishDocument(SwaggerModule.createDocument(app, config));
}
