import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import { ApiBody, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { takeParamType } from '../tenancy/param-type';
import { checkedAs } from './body.pipe';
import { nameSchema } from './schema-names';

/**
 * The body and the query of a handler, each checked by its class. These are decorators of our own, and the class is not to be
 * seen, because pipes of a host that validate or convert leave such parameters alone.
 */

const NOT_AN_OBJECT = {
  field: 'body',
  message: { zh: '请求体必须为 JSON 对象', en: 'must be a JSON object' },
};

type Part = 'body' | 'query';

/** The class of the body or the query of a handler. */
export function inputType(part: Part, target: object, key: string | symbol): Type | undefined {
  return Reflect.getMetadata(`tenantry:${part}`, target, key) as Type | undefined;
}

const body = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const sent: unknown = context.switchToHttp().getRequest<Request>().body;
  refuseNonObject(sent);
  return sent;
});

const optionalBody = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const sent: unknown = context.switchToHttp().getRequest<Request>().body ?? {};
  refuseNonObject(sent);
  return sent;
});

const query = createParamDecorator((_: unknown, context: ExecutionContext): object => ({
  ...context.switchToHttp().getRequest<Request>().query,
}));

/** Checks what a decorator reads by the class of its parameter, and remembers the class for the documentation. */
function checked(part: Part, reads: (pipe: PipeTransform) => ParameterDecorator): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) return;
    const metatype = takeParamType(target, key, index);
    Reflect.defineMetadata(`tenantry:${part}`, metatype, target, key);
    const transform = (value: unknown) => checkedAs(metatype, value);
    reads({ transform })(target, key, index);
  };
}

export function JsonBody(): ParameterDecorator {
  return checked('body', body);
}

/** A body that may be left out; it is then an object without fields. */
export function OptionalJsonBody(): ParameterDecorator {
  const decorate = checked('body', optionalBody);
  return (target, key, index) => {
    if (key !== undefined) Reflect.defineMetadata('tenantry:optional', true, target, key);
    decorate(target, key, index);
  };
}

export function QueryParams(): ParameterDecorator {
  return checked('query', query);
}

/** Documents the body and the query of a handler, with an example of the body where its class does not tell enough. */
export function documentsInput(example?: unknown): MethodDecorator {
  const examples = example === undefined ? {} : { examples: { default: { value: example } } };
  return (target, key, descriptor) => {
    const required = Reflect.getMetadata('tenantry:optional', target, key) !== true;
    const [bodyType, queryType] = [inputType('body', target, key), inputType('query', target, key)];
    if (bodyType) {
      nameSchema(bodyType);
      ApiBody({ type: bodyType, required, ...examples })(target, key, descriptor);
    }
    if (queryType) ApiQuery({ type: queryType })(target, key, descriptor);
  };
}

export function refuseNonObject(sent: unknown): void {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw HttpErrors.INVALID({ fields: [NOT_AN_OBJECT] });
}
