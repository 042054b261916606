/** How tokens name an account of this service; any other subject is somebody whom the platform vouches for. */
const PREFIX = 'account:';

export function accountSubject(userId: number): string {
  return `${PREFIX}${userId}`;
}

/** The account that a subject names, or null. */
export function accountOfSubject(subject: string): number | null {
  const digits = subject.startsWith(PREFIX) ? subject.slice(PREFIX.length) : '';
  return /^[1-9][0-9]{0,15}$/.test(digits) ? Number(digits) : null;
}
