import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { HttpErrors } from '../errors/http.errors';
import { takeParamType } from '../tenancy/request-context';
import { checkedAs } from './checked-as';
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

/** Reads a part of the request, checks it by the class of its parameter, and remembers the class for the documentation. */
function checked(part: Part, read: (request: Request) => object): ParameterDecorator {
  const reads = createParamDecorator((_: unknown, context: ExecutionContext) =>
    read(context.switchToHttp().getRequest<Request>()),
  );
  return (target, key, index) => {
    if (key === undefined) return;
    const metatype = takeParamType(target, key, index);
    Reflect.defineMetadata(`tenantry:${part}`, metatype, target, key);
    const transform = (value: unknown) => checkedAs(metatype, value);
    reads({ transform })(target, key, index);
  };
}

export function JsonBody(): ParameterDecorator {
  return checked('body', ({ body }) => onlyObject(body));
}

/** A body that may be left out; it is then an object without fields. */
export function OptionalJsonBody(): ParameterDecorator {
  const decorate = checked('body', ({ body }) => onlyObject(body ?? {}));
  return (target, key, index) => {
    if (key !== undefined) Reflect.defineMetadata('tenantry:optional', true, target, key);
    decorate(target, key, index);
  };
}

export function QueryParams(): ParameterDecorator {
  return checked('query', ({ query }) => ({ ...query }));
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

function onlyObject(sent: unknown): object {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent;
  throw HttpErrors.INVALID({ fields: [NOT_AN_OBJECT] });
}
