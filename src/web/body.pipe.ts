import { ValidationPipe, type ValidationError } from '@nestjs/common';
import type { Bilingual, FieldProblem } from '../errors/refusal';
import { HttpErrors } from '../errors/http.errors';
import { pickKnownFields } from './known-fields';

/**
 * Checks the shape of a body, or of the parameters after the question mark, and makes it an instance of its class.
 * Keys the class does not know are ignored.
 */
export class BodyPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidUnknownValues: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) =>
        HttpErrors.INVALID({ fields: errors.flatMap((error) => problemsOf(error)) }),
    });
  }

  override async transform(
    value: unknown,
    metadata: Parameters<ValidationPipe['transform']>[1],
  ): Promise<unknown> {
    if (metadata.type === 'query') return super.transform({ ...(value as object) }, metadata);
    if (metadata.type !== 'body') return value;
    return super.transform(pickKnownFields(value, metadata.metatype), metadata);
  }
}

function problemsOf(error: ValidationError, path = ''): FieldProblem[] {
  const field = path + error.property;
  const own = Object.values((error.contexts ?? {}) as Record<string, Bilingual>).map((message) => ({
    field,
    message,
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => problemsOf(child, `${field}.`))];
}
