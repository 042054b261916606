import { isIP, isIPv6 } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** The address of the client; behind a proxy that is trusted (`trust proxy`), the one that the proxy names. */
export function clientAddress(request: Request): string {
  const named = request.ip ?? '';
  const address = isIP(named) ? named : (request.socket.remoteAddress ?? '');
  // How a socket for both families names an IPv4 client.
  return address.replace(/^::ffff:(?=[0-9.]+$)/i, '');
}

/** What counts as one client: an IPv4 address, or an IPv6 network, because one client has all of its addresses. */
export function clientNetwork(request: Request): string {
  const address = clientAddress(request);
  return isIPv6(address) ? `${networkOf(address)}::/64` : address;
}

/** The client of a request, for what is counted per client. */
export const ClientNetwork = createParamDecorator((_: unknown, context: ExecutionContext) =>
  clientNetwork(context.switchToHttp().getRequest<Request>()),
);

/** The first four of the eight groups of an IPv6 address. */
function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%', 1);
  const [left = '', right] = withoutZone.split('::');
  const groups = (part: string | undefined): string[] => (part ? part.split(':') : []);
  const [first, last] = [groups(left), groups(right)];
  const zeros = Array<string>(Math.max(8 - first.length - last.length, 0)).fill('0');
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
