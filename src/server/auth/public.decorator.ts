import { Reflector } from '@nestjs/core';

/** Opens a route or a controller to callers without a token. */
export const Public = Reflector.createDecorator<true | undefined>({ transform: () => true as const });
