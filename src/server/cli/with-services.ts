import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule, type ServiceParts } from '../app.module';
import { jwtSettings } from '../config/jwt-settings';
import { BodyPipe } from '../../web/body.pipe';
import type { Refusal } from '../../errors/refusal';

/** Runs `work` with the service's own modules, without listening; closes the DataSource too. */
export async function withServices<T>(
  { dataSource, env }: Pick<ServiceParts, 'dataSource' | 'env'>,
  work: (services: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const context = await NestFactory.createApplicationContext(
    AppModule.of({ env, jwt: jwtSettings(env), dataSource }),
    { logger: false, abortOnError: false },
  );
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** Makes the same checks as on a request's body. */
export async function checked<T>(type: new () => T, body: object): Promise<T> {
  return (await new BodyPipe().transform(body, { type: 'body', metatype: type })) as T;
}

/** What a refusal says, in one line. */
export function textOf({ row, details }: Refusal): string {
  const fields = details.fields?.map(({ field, message }) => `${field} ${message.en}`).join('; ');
  return `${fields ?? row.en} (${row.reason})`;
}
