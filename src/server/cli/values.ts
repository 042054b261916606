import { InvalidArgumentError } from 'commander';
import { isDeptIds } from '../../tenancy/data-scope';
import { isRole, ROLES, type Role } from '../../tenancy/roles';
import { isTenantCode } from '../../tenancy/tenant-code';

/** Options were given that do not go together: exit code 2. */
export class UsageError extends Error {}

/** A name that begins with a dash is an option whose value was forgotten. */
const nameOf =
  (what: string, most: number) =>
  (typed: string): string => {
    if (typed.trim() === '' || typed.length > most || typed.startsWith('-'))
      throw new InvalidArgumentError(`Expected ${what} of 1 to ${most} characters.`);
    return typed;
  };
export const userName = nameOf('a user name', 64);
export const keyName = nameOf('the name of a key', 60);

export function tenantCode(typed: string): string {
  if (!isTenantCode(typed))
    throw new InvalidArgumentError('Expected the code of a tenant, such as 000000 (see tenant:list).');
  return typed;
}

export function roleList(typed: string): Role[] {
  const roles = typed.split(',').map((role) => role.trim());
  if (!roles.every(isRole))
    throw new InvalidArgumentError(`Expected roles out of ${ROLES.join(', ')}, with commas between them.`);
  return roles;
}

/** Permissions. An empty text is a variable of a shell that was forgotten. */
export function nameList(typed: string): string[] {
  const names = typed.split(/[ ,]+/).filter(Boolean);
  if (names.length === 0)
    throw new InvalidArgumentError('Expected permissions, with spaces or commas between them.');
  return names;
}

export function deptIdList(typed: string): number[] {
  const ids = typed.split(',').map(Number);
  if (!isDeptIds(ids))
    throw new InvalidArgumentError('Expected up to 50 ids of departments, with commas between them.');
  return ids;
}

const numberOf =
  (unit: string, most = Infinity) =>
  (typed: string): number => {
    const number = Number(typed);
    if (!Number.isFinite(number) || number <= 0 || number > most)
      throw new InvalidArgumentError(
        `Expected a number of ${unit} above 0${most === Infinity ? '' : `, up to ${most}`}.`,
      );
    return number;
  };
export const minutes = numberOf('minutes');
export const days = numberOf('days', 36_500);

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
