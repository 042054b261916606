import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { Request } from 'express';
import { HttpErrors } from '../errors/http.errors';

const NOT_AN_OBJECT = {
  field: 'body',
  message: { zh: '请求体必须为 JSON 对象', en: 'must be a JSON object' },
};

/**
 * Refuses a body that was not read, or that is no object, where a handler wants one. It cannot be left to a pipe: one of the
 * host's own runs before ours and may have made an empty object of it.
 */
export function refuseUnreadBody(context: ExecutionContext, request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'DELETE') return;
  if (isObject(request.body)) return;
  const parameters = (Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  ) ?? {}) as object;
  if (Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.BODY}:`)))
    refuseNonObject(request.body);
}

export function refuseNonObject(body: unknown): void {
  if (!isObject(body)) throw HttpErrors.INVALID({ fields: [NOT_AN_OBJECT] });
}

function isObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}
