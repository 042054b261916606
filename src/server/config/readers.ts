import { isIP } from 'node:net';

/** Makes a value of what a variable says, if it says anything; what it throws is told to the person who set it. */
export type Reader<T> = (said: string | undefined) => T;

export type ReadBy<R extends Record<string, Reader<unknown>>> = {
  -readonly [K in keyof R]: ReturnType<R[K]>;
};

/** A variable that may be absent. */
export function optional<T>(read: (said: string) => T): Reader<T | undefined> {
  return (said) => (said === undefined ? undefined : read(said));
}

/** A variable that has a usual value. */
export function usually<T>(usual: T, read: (said: string) => T): Reader<T> {
  return (said) => (said === undefined ? usual : read(said));
}

export function oneOf<T extends string>(...choices: readonly T[]): (said: string) => T {
  return (said) => {
    const chosen = choices.find((choice) => choice === said);
    return chosen ?? refuse(`must be one of ${choices.join(', ')}`);
  };
}

export function text(said: string): string {
  return said;
}

export function textThat(fits: (said: string) => boolean, problem: string): (said: string) => string {
  return (said) => (fits(said) ? said : refuse(problem));
}

/** A whole number in plain digits. */
export function wholeNumber(least: number, most: number, problem: string): (said: string) => number {
  return (said) => {
    const number = /^(0|[1-9][0-9]*)$/.test(said) ? Number(said) : NaN;
    return number >= least && number <= most ? number : refuse(problem);
  };
}

/** An address of a host, in the one form that every client understands: no spaces around it, its scheme in lower case. */
export function address(protocols: readonly string[], problem: string): (said: string) => string {
  return (said) => {
    const url = URL.canParse(said) ? new URL(said) : null;
    return url && url.hostname !== '' && protocols.includes(url.protocol) ? url.href : refuse(problem);
  };
}

/** Origins with commas between them, each as a browser sends it; `*` is none. */
export function origins(said: string): readonly string[] {
  const list = said.split(',').map((each) => each.trim());
  const isOrigin = (each: string): boolean => /^https?:/.test(each) && new URL(each).origin === each;
  return list.every((each) => URL.canParse(each) && isOrigin(each))
    ? list
    : refuse('must be a list of exact origins such as https://app.example, with commas between them');
}

/**
 * Which proxies are believed, as Express takes it: how many stand between client and service, or a list of their addresses
 * and networks. Not `true`, which would believe every client.
 */
export function proxies(said: string): number | string {
  if (/^[0-9]{1,2}$/.test(said)) return Number(said);
  const list = said.split(',').map((each) => each.trim());
  return list.every(isProxy)
    ? list.join(',')
    : refuse(
        'must be a number of proxies, or addresses and networks such as 10.0.0.0/8 or loopback, with commas between them',
      );
}

function isProxy(said: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(said)) return true;
  const [, address = '', bits] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(said) ?? [];
  const family = isIP(address);
  return (
    family !== 0 && (bits === undefined || (Number(bits) > 0 && Number(bits) <= (family === 4 ? 32 : 128)))
  );
}

/** Reads every variable; gives what they say, and what is wrong with those that cannot be read. */
export function readAll<R extends Record<string, Reader<unknown>>>(
  readers: R,
  source: Readonly<Record<string, string | undefined>>,
): { readonly values: ReadBy<R>; readonly problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(readers)) {
    try {
      values[name] = read(source[name]);
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
    }
  }
  return { values: values as ReadBy<R>, problems };
}

function refuse(problem: string): never {
  throw new Error(problem);
}
