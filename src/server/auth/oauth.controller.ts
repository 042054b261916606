import type { NextFunction, Request, Response } from 'express';
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Header,
  HttpCode,
  Logger,
  Post,
  UseFilters,
} from '@nestjs/common';
import { ApiConsumes, ApiExtraModels, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ErrorRow } from '../../errors/refusal';
import { ClientNetwork, hasBrokenOff, isFailure, noteRefusal, requestIdOf } from '../../web/request';
import { documentsInput, JsonBody } from '../../web/input';
import { refusalHeaders } from '../../web/envelope';
import { RefusalEnvelope } from '../../web/refusal.dto';
import { schemaRef } from '../../web/schema-names';
import { toRefusal } from '../../web/exception.filter';
import { TakesCredentials } from '../rate-limit/rate-limit.guard';
import { parseAccountName } from '../../tenancy/account-name';
import { OAuthProblemDto, OAuthTokensDto, TokenRequestDto, type TokensDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { Public } from './public.decorator';
import { NotesSignIn, type NoteSignIn } from './sign-in-note';
import { SignInService } from './sign-in.service';

/** What Node itself refuses is in the envelope: its path is not known yet. */
const PROBLEM = { oneOf: [schemaRef(OAuthProblemDto), schemaRef(RefusalEnvelope)] };

/** As RFC 6749 wants it for every answer of the token endpoint. */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
const FORM_WANTED = 'The body must be application/x-www-form-urlencoded, in UTF-8';
/** The request itself is wrong. */
const INVALID_REQUEST: ReadonlySet<number> = new Set([400, 413, 415, 417, 431]);

/** An error in the words of RFC 6749. */
class OAuthError extends Error {
  constructor(
    readonly code: string,
    description: string,
    readonly status = 400,
  ) {
    super(description);
  }
}

@Catch()
class OAuthExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('OAuth');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<Request>(), http.getResponse<Response>());
  }

  answer(error: unknown, request: Request, response: Response): void {
    if (hasBrokenOff(request)) {
      response.end();
      return;
    }
    const refusal = error instanceof OAuthError ? null : toRefusal(error);
    const { code, status, message } = refusal ? toOAuthError(refusal.row) : (error as OAuthError);
    noteRefusal(response, { status, reason: refusal?.row.reason ?? code });
    if (isFailure({ status }, error))
      this.#logger.error({ requestId: requestIdOf(request), err: error }, 'the request failed');
    response
      .status(status)
      .set(NO_STORE)
      .set(refusal && status !== 400 ? refusalHeaders(refusal.row) : {})
      .json({ error: code, error_description: message });
  }
}

/** Middleware: what is refused before Nest knows the route is told in the words of RFC 6749 too. */
export function refuseInOAuthForm(
  error: unknown,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  if (request.method === 'POST') new OAuthExceptionFilter().answer(error, request, response);
  else next(error);
}

const invalidRequest = (text: string) => new OAuthError('invalid_request', text);

function toOAuthError({ status, reason, en }: ErrorRow): OAuthError {
  if (reason === SignInErrors.INVALID_SCOPE.row.reason) return new OAuthError('invalid_scope', en);
  if (status === 415) return new OAuthError('invalid_request', FORM_WANTED, status);
  if (status === 500) return new OAuthError('server_error', en, status);
  if (status === 401 || status === 403) return new OAuthError('invalid_grant', en);
  const code = INVALID_REQUEST.has(status) ? 'invalid_request' : 'temporarily_unavailable';
  return new OAuthError(code, en, status);
}

/** The OAuth2 token endpoint, for tools that speak it; its form is fixed by RFC 6749, outside the envelope. */
@Public(true)
@Controller('auth')
@ApiTags('Signing in')
@ApiExtraModels(OAuthTokensDto, OAuthProblemDto, RefusalEnvelope)
@UseFilters(OAuthExceptionFilter)
export class OAuthController {
  constructor(private readonly signIn: SignInService) {}

  @Post('token')
  @TakesCredentials('grant')
  @documentsInput()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Header('Pragma', 'no-cache')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiOperation({
    operationId: 'token',
    summary: 'OAuth2 password and refresh grants',
    description:
      'The request and the answer have the form of RFC 6749, outside the envelope. The user name may be `tenantCode/username`.',
  })
  @ApiResponse({ status: 200, description: 'Tokens', schema: schemaRef(OAuthTokensDto) })
  @ApiResponse({
    status: 400,
    description: '`invalid_request`, `invalid_grant`, `invalid_scope` or `unsupported_grant_type`',
    schema: PROBLEM,
    example: { error: 'invalid_grant', error_description: SignInErrors.BAD_CREDENTIALS.row.en },
  })
  @ApiResponse({ status: 'default', description: 'Refused', schema: PROBLEM })
  async token(
    @JsonBody() request: TokenRequestDto,
    @ClientNetwork() client: string,
    @NotesSignIn('sign_in') note: NoteSignIn,
  ): Promise<OAuthTokensDto> {
    const tokens = await this.#grant(request, client, note);
    const { accessToken, tokenType, expiresIn, refreshToken, scope } = tokens;
    return {
      access_token: accessToken,
      token_type: tokenType,
      expires_in: expiresIn,
      refresh_token: refreshToken,
      scope,
    };
  }

  #grant(
    { grant_type, username, password, refresh_token, scope }: TokenRequestDto,
    client: string,
    note: NoteSignIn,
  ): Promise<TokensDto> {
    if (grant_type === 'password') {
      if (!username || !password) throw invalidRequest('username and password are required');
      return this.signIn.login({ ...parseAccountName(username), password, client }, scope, note);
    }
    if (grant_type === 'refresh_token') {
      if (!refresh_token) throw invalidRequest('refresh_token is required');
      note({ kind: 'refresh' });
      return this.signIn.refresh({ refreshToken: refresh_token, scope, client }, note);
    }
    const text = 'grant_type must be password or refresh_token';
    throw grant_type ? new OAuthError('unsupported_grant_type', text) : invalidRequest(text);
  }
}
