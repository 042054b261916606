import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { BodyPipe } from './body.pipe';

/**
 * The body and the query of a handler, each checked by its class. These are decorators of our own, because the pipes of a
 * host that validate or convert (Nest's, those for Zod and i18n) leave such parameters alone.
 */

const NOT_AN_OBJECT = {
  field: 'body',
  message: { zh: '请求体必须为 JSON 对象', en: 'must be a JSON object' },
};

type Part = 'body' | 'query';
const pipe = new BodyPipe();

/** The class of the body or the query of a handler. */
export function inputType(part: Part, target: object, key: string | symbol): Type | undefined {
  return Reflect.getMetadata(`tenantry:${part}`, target, key) as Type | undefined;
}

/** Remembers the class for the documentation, which Nest finds only for its own decorators. */
function keepsType(part: Part): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) return;
    // Compilers such as esbuild emit none.
    const types = Reflect.getMetadata('design:paramtypes', target, key) as Type[] | undefined;
    Reflect.defineMetadata(`tenantry:${part}`, types?.[index], target, key);
  };
}

function marksOptional(target: object, key: string | symbol | undefined): void {
  if (key !== undefined) Reflect.defineMetadata('tenantry:optional', true, target, key);
}

const body = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => {
    const sent: unknown = context.switchToHttp().getRequest<Request>().body;
    refuseNonObject(sent);
    return sent;
  },
  [keepsType('body')],
);

const optionalBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => {
    const sent: unknown = context.switchToHttp().getRequest<Request>().body ?? {};
    refuseNonObject(sent);
    return sent;
  },
  [keepsType('body'), marksOptional],
);

const query = createParamDecorator(
  (_: unknown, context: ExecutionContext): object => ({
    ...context.switchToHttp().getRequest<Request>().query,
  }),
  [keepsType('query')],
);

export function JsonBody(): ParameterDecorator {
  return body(pipe);
}

/** A body that may be left out; it is then an object without fields. */
export function OptionalJsonBody(): ParameterDecorator {
  return optionalBody(pipe);
}

export function QueryParams(): ParameterDecorator {
  return query(pipe);
}

/** Documents the body and the query of a handler, with an example of the body where its class does not tell enough. */
export function documentsInput(example?: unknown): MethodDecorator {
  const examples = example === undefined ? {} : { examples: { default: { value: example } } };
  return (target, key, descriptor) => {
    const required = Reflect.getMetadata('tenantry:optional', target, key) !== true;
    const [bodyType, queryType] = [inputType('body', target, key), inputType('query', target, key)];
    if (bodyType) ApiBody({ type: bodyType, required, ...examples })(target, key, descriptor);
    if (queryType) ApiQuery({ type: queryType })(target, key, descriptor);
  };
}

export function refuseNonObject(sent: unknown): void {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw HttpErrors.INVALID({ fields: [NOT_AN_OBJECT] });
}
