import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal';

/** Who is calling? A port: a host answers from its own sign-in. Null refuses the request. */
export abstract class PrincipalResolver {
  abstract resolve(request: Request): Principal | null;
}

/** The service's own answer: whom JwtAuthGuard has found. */
@Injectable()
export class JwtPrincipalResolver extends PrincipalResolver {
  override resolve(request: Request): Principal | null {
    return (request.user as Principal | undefined) ?? null;
  }
}
