import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/** How a sign-in, a refresh or a sign-out ended, by what was asked for. It is for the log and the metrics: callers are not told. */
export const SIGN_IN_OUTCOMES = {
  sign_in: [
    'signed_in',
    'unknown_user',
    'wrong_password',
    'locked',
    'disabled',
    'tenant_not_served',
    'changed_meanwhile',
  ],
  refresh: [
    'refreshed',
    'unknown_session',
    'session_ended',
    'session_expired',
    'unknown_user',
    'disabled',
    'tenant_not_served',
    'reused_token',
    'wrong_token',
  ],
  sign_out: ['signed_out', 'no_session'],
} as const;

type Kind = keyof typeof SIGN_IN_OUTCOMES;
export type SignInOutcome = (typeof SIGN_IN_OUTCOMES)[Kind][number];

/** Who wanted to sign in, and what became of it. There is no outcome when something else was wrong. */
export interface SignInNote {
  readonly kind: Kind;
  readonly outcome?: SignInOutcome;
  readonly tenant?: string;
  /** The name of the account, or what was typed when there is none. */
  readonly user?: string;
  readonly session?: string;
}

/** Adds to what is known of a sign-in; it is kept until the request is over. */
export type NoteSignIn = (more: Partial<SignInNote>) => void;

/** For handlers: what keeps the note of this request. */
export const NotesSignIn = createParamDecorator((kind: Kind, context: ExecutionContext): NoteSignIn => {
  const { locals } = context.switchToHttp().getResponse<Response>();
  return (more) => {
    locals.signIn = { kind, ...(locals.signIn as Partial<SignInNote> | undefined), ...more };
  };
});

export function signInNoteOf({ locals }: Response): SignInNote | undefined {
  return locals.signIn as SignInNote | undefined;
}
