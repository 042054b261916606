import type { Type } from '@nestjs/common';

const TYPES = 'design:paramtypes';

/**
 * The class of a handler's parameter, which nothing else sees from then on: pipes of a host that check whatever has a class
 * leave the parameter alone. Undefined where the compiler emits no types, as esbuild.
 */
export function takeParamType(target: object, key: string | symbol, index: number): Type | undefined {
  const types = Reflect.getMetadata(TYPES, target, key) as readonly Type[] | undefined;
  if (!types) return undefined;
  Reflect.defineMetadata(TYPES, types.with(index, Object), target, key);
  return types[index];
}
