import { AuthErrors } from './access.errors';
import type { Role } from './roles';

/** What callers may be allowed to do with a resource, by name: the roles that can be allowed it, and what it is. */
export type Permissions = Readonly<
  Record<string, { readonly roles: readonly Role[]; readonly description: string }>
>;

/** Refuses a caller who is limited to other permissions. Null are all that the caller's roles allow. */
export function requirePermission(own: readonly string[] | null, permission: string): void {
  if (own && !own.includes(permission)) throw AuthErrors.PERMISSION({ permission });
}

/** All permissions of an application. */
export class PermissionCatalogue {
  readonly #all: ReadonlyMap<string, Permissions[string]>;

  constructor(resources: Iterable<{ readonly permissions: Permissions }>) {
    this.#all = new Map([...resources].flatMap(({ permissions }) => Object.entries(permissions)));
  }

  get names(): string[] {
    return [...this.#all.keys()];
  }

  /** What each name means, as the scopes of OAuth2 are documented. */
  get descriptions(): Record<string, string> {
    return Object.fromEntries([...this.#all].map(([name, { description }]) => [name, description]));
  }

  /** What a caller with these roles can do, and is not kept from. */
  held(roles: readonly Role[], own: readonly string[] | null): string[] {
    const isHeld = (name: string): boolean =>
      own?.includes(name) !== false && !!this.#all.get(name)?.roles.some((role) => roles.includes(role));
    return this.names.filter(isHeld);
  }
}
