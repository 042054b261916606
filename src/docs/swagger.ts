import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Serves Swagger UI at `/docs`, and the document beside it. */
export function serveDocs(app: INestApplication, version: string): void {
  const config = new DocumentBuilder()
    .setTitle('Tenantry')
    .setDescription('Departments and tenants of many companies. Every answer is `{ code, msg, data }`.')
    .setVersion(version)
    .addBearerAuth()
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, config), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      filter: true,
      tryItOutEnabled: true,
    },
  });
}
