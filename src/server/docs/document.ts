import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { sharedComponents, HEADERS } from '../../web/refusal-responses';
import { finishDocument } from './finish-document';

const DESCRIPTION = `
Departments and tenants of many companies.

- Every answer is \`{ code, msg, data }\`; \`code\` 200 is success. The HTTP status is the same number, unless the service runs with
  \`HTTP_STATUS_MODE=always-200\`: then only \`code\` tells.
- A refused request has \`data.reason\`, a constant to branch on. \`msg\` is for people: Chinese, or English with
  \`Accept-Language: en\`.
- To try things out, press *Authorize* and sign in with user name and password, or paste a token. The first start has printed the
  password of \`admin\`, unless \`ADMIN_PASSWORD\` said it. Then create a department: the other examples work on it. Ids of
  tenants cannot be known before; take one that their list shows.
- Numeric ids may also be sent as decimal strings. A field that is null is the same as one that is not sent. Keys that are not
  described are ignored.
- This document: [openapi.json](/docs/openapi.json), [openapi.yaml](/docs/openapi.yaml).
`.trim();

const TAGS = {
  Departments: "The department tree of the caller's tenant.",
  Tenants: "The caller's own tenant, to read it, and every tenant below, to change it.",
  Accounts: "Who may sign in to the caller's tenant.",
  'Signing in': 'Tokens for accounts, and who one is.',
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
        description: 'User name and password. Of another tenant than the platform: `tenantCode/username`.',
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
