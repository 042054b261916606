import { NestFactory } from '@nestjs/core';
import type * as Yaml from 'js-yaml';
import { loadPart } from '../../errors/load-part';
import { AppModule } from '../app.module';
import { parseEnv } from '../config/env';
import { version } from '../config/version';
import { createServiceDataSource } from '../service-data-source';
import { createDocument } from '../docs/document';
import { print } from './values';

/** Prints the OpenAPI document. Nothing is started for it: no database is opened, no provider made. */
export async function openapiCommand(): Promise<number> {
  const { dump } = loadPart('tenantry openapi', ['js-yaml'], () => require('js-yaml') as typeof Yaml);
  const env = parseEnv({});
  const dataSource = await createServiceDataSource(env.DATABASE_URL);
  const app = await NestFactory.create(AppModule.of({ env, dataSource }), { preview: true, logger: false });
  print(dump(createDocument(app, version), { noRefs: true, lineWidth: 120 }).trimEnd());
  return 0;
}
