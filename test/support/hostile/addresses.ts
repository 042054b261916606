import type { Chance } from '../chance';
import { nastyText } from './nasty-values';
import type { HostileTarget, Parameter } from './operations';
import type { HostileCaller } from './world';

const ODD_TARGETS = [
  ...[
    '/',
    '//',
    '/system',
    '/system/',
    '/system/dept-api//',
    '/system/dept-api/./1',
    '/system/dept-api/../dept-api',
  ],
  ...[
    '/system/dept-api/%2e%2e/x',
    '/system/dept-api/1/2/3',
    '/system/dept-api/1/ancestors/',
    '/SYSTEM/dept-api/1',
  ],
  ...[
    '/system/dept-api/1;x=1',
    '/system/dept-api/1%3Bx',
    '/%',
    '/%00',
    '/system/dept-api/%',
    '/system/%E0%A4%A',
  ],
  ...[
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/x',
    '/docs-json',
    '/health/x',
  ],
  ...[
    '/health/live',
    '/health/ready?x=%',
    '/favicon.ico',
    '/__proto__',
    '/constructor',
    '/auth',
    '/auth/me/1',
  ],
  ...['/system/dept-api/export/', '/system/dept-api/tree/1', '/system/dept-api/order', '/metrics', '/.env'],
];

/** The address of an operation, with right and wrong ids and parameters; or one that leads nowhere. */
export function hostileAddress(
  { path, parameters }: HostileTarget,
  caller: HostileCaller,
  chance: Chance,
): string {
  if (chance.hit(0.04)) return chance.pick(ODD_TARGETS);
  const place = path.includes('user-api') ? 'user' : path.includes('tenant-api') ? 'tenant' : 'dept';
  const filled = path.replace('{id}', () => idInPath(place, caller, chance));
  const query = parameters.filter((each) => each.in === 'query');
  const parts = query.filter(() => chance.hit(0.3)).flatMap((each) => partsOf(each, caller, chance));
  if (chance.hit(0.03))
    parts.push(
      chance.pick([
        '',
        '=',
        '&&',
        'x',
        '__proto__=1',
        '__proto__[x]=1',
        'constructor.prototype=1',
        '%',
        '%00=%00',
      ]),
    );
  if (chance.hit(0.003)) parts.push(...Array.from({ length: 1500 }, (_, index) => `p${index}=1`));
  return parts.length > 0 ? `${filled}?${chance.shuffled(parts).join('&')}` : filled;
}

function idInPath(place: string, caller: HostileCaller, chance: Chance): string {
  const id = () => String(caller.idFor(place, chance));
  const kind = chance.next();
  if (kind < 0.5) return id();
  if (kind < 0.6) return Array.from({ length: 1 + chance.below(4) }, id).join();
  if (kind < 0.63)
    return Array.from({ length: chance.pick([500, 501, 3000, 10_000]) }, (_, at) => at + 1).join();
  if (kind < 0.9) return escaped(nastyText(chance)).slice(0, 9000) || '%20';
  return chance.pick([
    '%',
    '%zz',
    '%00',
    '%2f',
    '%C0%AF',
    '%ED%A0%80',
    '1%00',
    '1%0a',
    '%EF%BC%91',
    '+1',
    '1.0',
    '0x1',
    '1e0',
    '-1',
    '01',
  ]);
}

const EXAMPLES: Readonly<Record<string, string>> = { boolean: 'true', integer: '50', string: '1' };

function partsOf({ name, schema }: Parameter, caller: HostileCaller, chance: Chance): string[] {
  const right = String(
    caller.idFor(name, chance) ??
      (schema.enum?.[0] as string | undefined) ??
      EXAMPLES[schema.type ?? ''] ??
      '1',
  );
  const kind = chance.next();
  if (kind < 0.45) return [`${name}=${right}`];
  if (kind < 0.75) return [`${name}=${escaped(nastyText(chance))}`];
  return chance.pick([
    [`${name}=${right}`, `${name}=${right}`],
    [`${name}[]=${right}`],
    [`${name}[x]=${right}`],
    [`${name}[__proto__][polluted]=1`],
    [name],
    [`${name}=`],
    [`${name}=%`],
    [`${name}=%E0%A4`],
    [`${name}=%00`],
    [`%${name}=1`],
    [`${name}=${right}%2C${right}`],
    [`${name}=${right}+`],
    [`${encodeURIComponent(name)}==${right}`],
  ]);
}

/** Percent-encoded; half a surrogate pair, which has no encoding, as the bytes that some would send for it. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}
