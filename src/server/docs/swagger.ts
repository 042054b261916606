import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { createDocument } from './document';

/** Nest puts the title into the page as it is, and has no option for other tags of the head. */
const TITLE = 'Tenantry API</title><meta name="viewport" content="width=device-width, initial-scale=1">';

/** Parts of the Authorize dialog that OAuth2 knows and this service does not need, and links, of which no answer has any. */
const NOT_NEEDED = [
  '.swagger-ui .response-col_links',
  '.auth-container .scope-def',
  ...['client_id_password', 'client_secret_password', 'password_type'].map(
    (id) => `.auth-container .wrapper:has(> section > #${id})`,
  ),
].join(', ');

/** On the screen of a telephone nothing may be wider than it is. */
const STYLE = `
${NOT_NEEDED} { display: none }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 .5rem }
  .swagger-ui .opblock .opblock-summary-operation-id { display: none }
  .swagger-ui .opblock-body .table-container, .swagger-ui .responses-inner { padding: .75rem }
  .swagger-ui .responses-table .response-col_status { min-width: 0; padding-right: .75rem }
  .swagger-ui .parameters-col_name { padding-right: .75rem; overflow-wrap: anywhere }
  .swagger-ui .headers td, .swagger-ui .headers th { padding-right: .5rem }
}`;

/** A page, but one that loads and asks only what is here; its styles stand partly in the page itself. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function asPage(_: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
  response.setHeader('Cache-Control', 'no-cache');
  next();
}

/** Serves Swagger UI at `/docs`, and the document beside it; nothing of it comes from elsewhere. */
export function serveDocs(app: INestApplication, version: string): void {
  app.use('/docs', asPage);
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
