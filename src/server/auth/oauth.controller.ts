import { Body, Controller, Header, HttpCode, Post, UseFilters, UsePipes } from '@nestjs/common';
import {
  ApiConsumes,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ClientNetwork } from '../../web/request';
import { BodyPipe } from '../../web/body.pipe';
import { RefusalEnvelope } from '../../web/refusal.dto';
import { TakesCredentials } from '../rate-limit/rate-limit.guard';
import { parseAccountName } from '../../tenancy/account-name';
import { OAuthProblemDto, OAuthTokensDto, TokenRequestDto } from './auth.dto';
import { SignInErrors } from './auth.errors';
import { OAuthError, OAuthExceptionFilter } from './oauth.filter';
import { Public } from './public.decorator';
import { SignInService } from './sign-in.service';
import { ACCESS_SECONDS, type Tokens } from './token-issuer';

/** What Node itself refuses is no request yet that anybody could know to be meant for OAuth2. */
const PROBLEM = {
  oneOf: [{ $ref: getSchemaPath(OAuthProblemDto) }, { $ref: getSchemaPath(RefusalEnvelope) }],
};

/** The OAuth2 token endpoint, for tools that speak it; its form is fixed by RFC 6749, outside the envelope. */
@Public(true)
@Controller('auth')
@ApiTags('Signing in')
@ApiExtraModels(OAuthProblemDto, RefusalEnvelope)
@UsePipes(BodyPipe)
@UseFilters(OAuthExceptionFilter)
export class OAuthController {
  constructor(private readonly signIn: SignInService) {}

  @Post('token')
  @TakesCredentials('grant')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Header('Pragma', 'no-cache')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiOperation({
    operationId: 'token',
    summary: 'OAuth2 password and refresh grants',
    description: 'In the form of RFC 6749, outside the envelope. The user name may be `tenantCode/username`.',
  })
  @ApiResponse({ status: 200, description: 'Tokens', type: OAuthTokensDto })
  @ApiResponse({
    status: 400,
    description: '`invalid_request`, `invalid_grant` or `unsupported_grant_type`',
    schema: PROBLEM,
    example: { error: 'invalid_grant', error_description: SignInErrors.BAD_CREDENTIALS.row.en },
  })
  @ApiResponse({ status: 'default', description: 'Refused', schema: PROBLEM })
  async token(@Body() request: TokenRequestDto, @ClientNetwork() client: string): Promise<OAuthTokensDto> {
    const { accessToken, refreshToken } = await this.#grant(request, client);
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: ACCESS_SECONDS,
      refresh_token: refreshToken,
    };
  }

  #grant(
    { grant_type, username, password, refresh_token }: TokenRequestDto,
    client: string,
  ): Promise<Tokens> {
    if (grant_type === 'password') {
      if (!username || !password)
        throw new OAuthError('invalid_request', 'username and password are required');
      return this.signIn.login({ ...parseAccountName(username), password, client });
    }
    if (grant_type === 'refresh_token') {
      if (!refresh_token) throw new OAuthError('invalid_request', 'refresh_token is required');
      return this.signIn.refresh(refresh_token);
    }
    throw new OAuthError(
      grant_type ? 'unsupported_grant_type' : 'invalid_request',
      'grant_type must be password or refresh_token',
    );
  }
}
