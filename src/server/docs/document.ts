import type { NextFunction, Request, Response } from 'express';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { schemaTypes } from '../../web/schema-names';
import { PermissionCatalogue } from '../../tenancy/permissions';
import { serviceResources } from './service-resources';
import { finishDocument } from './finish-document';
import { shareParts } from './share-parts';

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
  are ignored, unless you send \`Prefer: handling=strict\`.
- This document: [openapi.json](/docs/openapi.json), [openapi.yaml](/docs/openapi.yaml).
`.trim();

const scopes = new PermissionCatalogue(serviceResources).descriptions;

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
        description:
          'User name and password. For tenants other than the platform: `tenantCode/username`. The token is limited to the scopes that you select; with none, nothing limits it.',
        flows: { password: { tokenUrl: '/auth/token', refreshUrl: '/auth/token', scopes } },
      },
      'password',
    )
    .addBearerAuth({ type: 'http', description: 'An access token, or a key for a program' }, 'bearer')
    .addSecurityRequirements('password')
    .addSecurityRequirements('bearer');
  for (const { tag } of serviceResources) builder.addTag(tag.name, tag.description);
  // Also the classes that others extend.
  const extraModels = [...schemaTypes.values()];
  return shareParts(finishDocument(SwaggerModule.createDocument(app, builder.build(), { extraModels })));
}

/** Nest puts the title into the page as it is, and has no option for other tags of the head. */
const TITLE = 'Tenantry API</title><meta name="viewport" content="width=device-width, initial-scale=1">';

/** Parts of the Authorize dialog that this service does not need, words that say its scopes are required, and links, of which no answer has any. */
const NOT_NEEDED = [
  '.swagger-ui .response-col_links',
  '.auth-container .scope-def',
  ...['client_id_password', 'client_secret_password', 'password_type'].map(
    (id) => `.auth-container .wrapper:has(> section > #${id})`,
  ),
].join(', ');

/**
 * The dialog fits on the screen without being scrolled, because Swagger UI opens it at its last field; its list of scopes is
 * scrolled instead. On the screen of a telephone nothing may be wider than it is.
 */
const STYLE = `
${NOT_NEEDED} { display: none }
.swagger-ui .dialog-ux .modal-ux-content { max-height: 90vh }
.auth-container .scopes { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); max-height: 25vh; overflow-y: auto }
.auth-container .scopes h2 { grid-column: 1 / -1 }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 .5rem }
  .swagger-ui .opblock .opblock-summary-operation-id { display: none }
  .swagger-ui .opblock-body .table-container, .swagger-ui .responses-inner { padding: .75rem }
  .swagger-ui .responses-table .response-col_status { min-width: 0; padding-right: .75rem }
  .swagger-ui .parameters-col_name { padding-right: .75rem; overflow-wrap: anywhere }
  .swagger-ui .headers td, .swagger-ui .headers th { padding-right: .5rem }
}`;

/** For a page that loads and asks only what is here. */
export function pagePolicy(...directives: string[]): string {
  const none = ['base-uri', 'form-action', 'frame-ancestors'].map((name) => `${name} 'none'`);
  return ["default-src 'none'", ...directives, ...none].join('; ');
}

/** Some styles of Swagger UI stand in the page itself. */
const POLICY = pagePolicy(
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
);

/** Serves Swagger UI at `/docs`, and the document beside it; nothing of it comes from elsewhere. */
export function serveDocs(app: INestApplication, version: string): void {
  app.use('/docs', (_: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', POLICY).setHeader('Cache-Control', 'no-cache');
    next();
  });
  SwaggerModule.setup('docs', app, () => createDocument(app, version), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: TITLE,
    customCss: STYLE,
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      displayOperationId: true,
      filter: true,
      defaultModelsExpandDepth: 0,
      tryItOutEnabled: true,
      validatorUrl: null,
    },
  });
}
