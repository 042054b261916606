import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OverloadProtection } from './overload/overload-protection';
import { hasBody, readJsonBody } from '../web/json-body';

/**
 * Global, after the token check: reads the body of callers whose token is good. The body of anybody else is left to Node,
 * which drops it after the answer.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly overload: OverloadProtection) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    return !hasBody(request) || this.#read(request, http.getResponse<Response>());
  }

  async #read(request: Request, response: Response): Promise<boolean> {
    if (request.user) await readJsonBody(request, response, 'caller');
    await this.overload.enterWithBody(request, response);
    return true;
  }
}
