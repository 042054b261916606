import { isPublicAddress } from './public-address';

describe('an address is public', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.0.1',
    '223.255.255.1',
    '2606:4700::1111',
  ])('the address %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('an address is not public', () => {
  it.each([
    ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255'],
    ...['192.168.0.1', '169.254.169.254', '100.64.0.1', '100.100.100.200', '224.0.0.1', '255.255.255.255'],
    ...['192.0.0.192', '198.18.0.1', '240.0.0.1', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1'],
    ...['fd00:ec2::254', 'ff02::1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::ffff:8.8.8.8', '::127.0.0.1'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', '2001:db8::1', 'fec0::1', '127.1', 'localhost', ''],
  ])('the address %s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
