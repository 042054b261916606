import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import { createDocument } from './document';

/** Serves Swagger UI at `/docs`, and the document beside it; nothing of it comes from elsewhere. */
export function serveDocs(app: INestApplication, version: string): void {
  SwaggerModule.setup('docs', app, () => createDocument(app, version), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Tenantry API',
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
