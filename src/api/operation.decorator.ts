import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
  type ApiResponseSchemaHost,
} from '@nestjs/swagger';
import { AuthErrors } from '../auth/auth.errors';
import { AllowRoles } from '../auth/roles.guard';
import type { Role } from '../auth/roles';
import { DatabaseErrors } from '../database/database.errors';
import { SUCCESS_CODE, SUCCESS_MESSAGE } from '../http/envelope';
import type { ErrorRow, RefusalFactory } from '../http/error-catalogue';
import { HttpErrors } from '../http/http.errors';
import { TenantErrors } from '../tenant/tenant.errors';

export interface OperationOptions {
  readonly summary: string;
  /** Who may call it. */
  readonly roles: readonly Role[];
  /** What `data` holds; null when absent. */
  readonly data?: Type;
  /** What `data` is a page of. */
  readonly page?: Type;
  /** What `data` is a list of. */
  readonly list?: Type;
  /** The refusals of this operation, beside those that every operation has. */
  readonly refusals: readonly RefusalFactory[];
}

type Schema = ApiResponseSchemaHost['schema'];

const EVERYWHERE = [
  ...Object.values(AuthErrors),
  TenantErrors.DELETED,
  TenantErrors.DISABLED,
  TenantErrors.NOT_STARTED,
  TenantErrors.EXPIRED,
  HttpErrors.INVALID,
  HttpErrors.MALFORMED,
  HttpErrors.TOO_LARGE,
  HttpErrors.MEDIA_TYPE,
  HttpErrors.INTERNAL,
  DatabaseErrors.UNAVAILABLE,
];

/** One operation of the API: who may call it and what it answers, for the guard and for the documentation. */
export function Operation({ summary, roles, refusals, ...answer }: OperationOptions): MethodDecorator {
  const models = [answer.data, answer.page, answer.list].filter((model) => model !== undefined);
  const rows = [...EVERYWHERE, ...refusals].map(({ row }) => row);
  const statuses = [...new Set(rows.map(({ status }) => status))];
  return applyDecorators(
    HttpCode(SUCCESS_CODE),
    AllowRoles(roles),
    ApiOperation({ summary }),
    ApiExtraModels(...models),
    ApiResponse({ status: SUCCESS_CODE, description: SUCCESS_MESSAGE, schema: successSchema(answer) }),
    ...statuses.map((status) =>
      refusalResponse(
        status,
        rows.filter((row) => row.status === status),
      ),
    ),
  );
}

function successSchema(answer: Pick<OperationOptions, 'data' | 'page' | 'list'>): Schema {
  return {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', example: SUCCESS_CODE },
      msg: { type: 'string', example: SUCCESS_MESSAGE },
      data: dataSchema(answer),
    },
  };
}

function dataSchema({ data, page, list }: Pick<OperationOptions, 'data' | 'page' | 'list'>): Schema {
  if (data) return { $ref: getSchemaPath(data) };
  if (list) return listOf(list);
  if (!page) return { nullable: true, example: null, type: 'object' };
  const nextCursor = { type: 'string', nullable: true };
  return {
    type: 'object',
    required: ['rows', 'nextCursor', 'hasMore'],
    properties: { rows: listOf(page), nextCursor, hasMore: { type: 'boolean' } },
  };
}

function listOf(type: Type): { type: 'array'; items: { $ref: string } } {
  return { type: 'array', items: { $ref: getSchemaPath(type) } };
}

function refusalResponse(status: number, rows: readonly ErrorRow[]): MethodDecorator {
  const description = rows.map(({ reason, en }) => `\`${reason}\`: ${en}`).join('\n\n');
  return ApiResponse({ status, description, schema: refusalSchema(rows) });
}

function refusalSchema(rows: readonly ErrorRow[]): Schema {
  return {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', example: rows[0]?.status },
      msg: { type: 'string', example: rows[0]?.zh },
      data: {
        type: 'object',
        required: ['reason', 'requestId'],
        properties: {
          reason: { type: 'string', enum: rows.map(({ reason }) => reason) },
          requestId: { type: 'string' },
        },
      },
    },
  };
}
