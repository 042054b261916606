import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import { createDocument } from './document';

/** Parts of the Authorize dialog that OAuth2 knows and this service does not need. */
const NOT_ASKED_FOR = [
  '.auth-container .scope-def',
  ...['client_id_password', 'client_secret_password', 'password_type'].map(
    (id) => `.auth-container .wrapper:has(> section > #${id})`,
  ),
].join(', ');

/** Serves Swagger UI at `/docs`, and the document beside it; nothing of it comes from elsewhere. */
export function serveDocs(app: INestApplication, version: string): void {
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
