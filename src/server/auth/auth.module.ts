import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import type { Resource } from '../../resource/resource';
import { TenantServicesModule } from '../../tenant/tenant.module';
import { ENV, type Env } from '../config/env';
import { SIGN_IN_TABLES } from './account.tables';
import { SessionController, SignInController, SignInListController } from './auth.controller';
import { FailedSignInRepository } from './failed-sign-in.repository';
import { JwtStrategy } from './jwt-auth.guard';
import { KeyUseRepository } from './key-use.repository';
import { OAuthController } from './oauth.controller';
import { PasswordHasher, Passwords } from './password-hasher';
import { RevocationRelay } from './revocation-relay';
import { SessionRepository } from './session.repository';
import { SignInRepository } from './sign-in.repository';
import { MeService, SignInListService, SignInService } from './sign-in.service';
import { TokenIssuer } from './token-issuer';
import { AccountStateCache, KeyStateCache, VerifiedTokens } from './verified-tokens';

/** Tokens and sign-in of the service's own; a host with its own sign-in leaves this module out. */
@Module({
  imports: [PassportModule, TenantServicesModule],
  controllers: [SignInController, SessionController, OAuthController, SignInListController],
  providers: [
    JwtStrategy,
    SignInService,
    TokenIssuer,
    MeService,
    SignInListService,
    SessionRepository,
    SignInRepository,
    FailedSignInRepository,
    AccountStateCache,
    KeyUseRepository,
    KeyStateCache,
    VerifiedTokens,
    { provide: PasswordHasher, useFactory: ({ WORKERS }: Env) => new PasswordHasher(WORKERS), inject: [ENV] },
    Passwords,
    RevocationRelay,
  ],
  exports: [AccountStateCache, KeyStateCache, VerifiedTokens, Passwords, SessionRepository, SignInRepository],
})
export class AuthModule {}

export const SIGNING_IN = {
  ...SIGN_IN_TABLES,
  tag: { name: 'Signing in', description: 'Signing in, tokens, and the signed-in caller.' },
  permissions: {},
  services: AuthModule,
  routes: AuthModule,
} satisfies Resource;
