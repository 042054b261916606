import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** What webhooks must not reach (SSRF): this host, private networks, link-local (clouds keep their metadata there), documentation, multicast. */
const NOT_PUBLIC_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
/** Inside 2000::/3, which is all of the public Internet in IPv6: protocols that hold IPv4 addresses, and documentation. */
const NOT_PUBLIC_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

const notPublic = new BlockList();
for (const network of NOT_PUBLIC_V4.split(' ')) add(notPublic, network, 'ipv4');
for (const network of NOT_PUBLIC_V6.split(' ')) add(notPublic, network, 'ipv6');
const publicV6 = new BlockList();
add(publicV6, '2000::/3', 'ipv6');

function add(list: BlockList, network: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits] = network.split('/');
  list.addSubnet(address, Number(bits), family);
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, 'ipv4');
  if (isIP(address) !== 6 || address.includes('%')) return false;
  return publicV6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** Code of the error for a name that leads into a private network. */
export const NOT_PUBLIC = 'ADDRESS_NOT_PUBLIC';

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** For a look-up as a whole; `tries` alone multiply with the number of name servers. */
const LOOKUP_MS = 2000;

/** The addresses of a host; fails when there is none, or when any of them is not public. */
export async function publicAddressesOf(host: string): Promise<Address[]> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [{ address: host, family: 4 as const }];
  if (addresses.length === 0) throw coded('ENOTFOUND');
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw coded(NOT_PUBLIC);
  return addresses;
}

async function resolve(host: string): Promise<Address[]> {
  // Not `dns.lookup`: a name server that does not answer would hold the threads that hash passwords.
  const resolver = new Resolver({ timeout: LOOKUP_MS / 2, tries: 2 });
  const limit = setTimeout(() => {
    resolver.cancel();
  }, LOOKUP_MS);
  const [v4, v6] = await Promise.all([
    resolver.resolve4(host).catch(() => []),
    resolver.resolve6(host).catch(() => []),
  ]);
  clearTimeout(limit);
  return [
    ...v4.map((address) => ({ address, family: 4 as const })),
    ...v6.map((address) => ({ address, family: 6 as const })),
  ];
}

/** For sockets: what is checked is what is connected to, whatever the name led to before. */
export const lookupPublic: LookupFunction = (host, { all }, callback) => {
  publicAddressesOf(host).then(
    (addresses) => {
      const [first] = addresses;
      if (all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    },
    (error: unknown) => {
      callback(error as NodeJS.ErrnoException, '');
    },
  );
};

/** An error that tells its code. */
export function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}
