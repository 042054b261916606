import { RequestMethod, type INestApplication } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { Public } from '../../src/server/auth/public.decorator';
import { AllowRoles, NeedsPermission } from '../../src/web/roles.guard';
import type { Role } from '../../src/tenancy/roles';

export interface Route {
  /** `GET /system/dept-api/:id` */
  readonly name: string;
  readonly isPublic: boolean;
  readonly roles: readonly Role[] | undefined;
  readonly permission: string | undefined;
}

type Handler = (...args: unknown[]) => unknown;

/** Every route of the application, from what its controllers declare. */
export function routesOf(app: INestApplication): Route[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap(({ controllers: own }) => [
    ...own.values(),
  ]);
  return controllers.flatMap(({ metatype }) => {
    const prototype = (metatype as { prototype: object }).prototype;
    const handlers = Object.getOwnPropertyNames(prototype)
      .map((key) => (prototype as Record<string, Handler>)[key]!)
      .filter((handler) => Reflect.hasMetadata('method', handler));
    return handlers.map((handler) => describeRoute(metatype as Handler, handler, app.get(Reflector)));
  });
}

function describeRoute(controller: Handler, handler: Handler, reflector: Reflector): Route {
  const method = RequestMethod[Reflect.getMetadata('method', handler) as RequestMethod];
  const parts = [controller, handler].map((each) => Reflect.getMetadata('path', each) as string);
  const path = parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/');
  return {
    name: `${method} /${path}`,
    isPublic: reflector.getAllAndOverride(Public, [handler, controller]) === true,
    roles: reflector.get(AllowRoles, handler),
    permission: reflector.get(NeedsPermission, handler),
  };
}
