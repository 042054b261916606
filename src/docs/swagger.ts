import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { createDocument } from './document';

/** Parts of the Authorize dialog that OAuth2 knows and this service does not need. */
const NOT_ASKED_FOR = [
  '.auth-container .scope-def',
  ...['client_id_password', 'client_secret_password', 'password_type'].map(
    (id) => `.auth-container .wrapper:has(> section > #${id})`,
  ),
].join(', ');

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
    customSiteTitle: 'Tenantry API',
    // Clients have no secrets of their own here.
    customCss: `${NOT_ASKED_FOR} { display: none }`,
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
