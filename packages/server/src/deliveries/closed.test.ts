/** Tests of the address guard: every port and name in its lists, and the values next to every limit. */
import { describe, expect, it } from 'vitest';
import { createAddressGuard, MAX_URL_LENGTH, readLiteral, URL_REASONS } from './addresses.ts';

const open = createAddressGuard({ allowedNetworks: [] });
const inside = createAddressGuard({ allowedNetworks: ['10.0.0.0/8'] });
const loopback = createAddressGuard({ allowedNetworks: ['127.0.0.0/8'] });

/** Returns `ok`, or the key of the error message with which the guard refuses a URL. */
function verdict(guard: typeof open, url: string): string {
  const checked = guard.checkUrl(url);
  if (checked.ok) return 'ok';
  return Object.entries(URL_REASONS).find(([, reason]) => reason === checked.reason)![0];
}

describe('the address guard', () => {
  const CLOSED = [
    1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060,
    5061, 5432, 5672, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9200,
    9300, 10_080, 10_250, 11_211, 27_017, 0, 1, 21, 22, 23, 25, 53, 79, 81, 110, 143, 442, 444, 445, 465, 587,
    993, 1023,
  ];
  it.each(CLOSED)('refuses port %d for a name and for an address', (port) => {
    expect(verdict(open, `http://hooks.example.com:${port}/`)).toBe('port');
    expect(verdict(open, `http://8.8.8.8:${port}/`)).toBe('port');
    expect(open.allowsPort('8.8.8.8', port)).toBe(false);
  });

  it.each([80, 443, 1024, 1025, 3000, 5000, 8000, 8080, 8443, 9000, 65_535])('allows port %d', (port) => {
    expect(verdict(open, `http://hooks.example.com:${port}/`)).toBe('ok');
    expect(open.allowsPort('8.8.8.8', port)).toBe(true);
  });

  it('allows every port from 1 on in an allowed network', () => {
    for (const [port, expected] of [
      [0, 'port'],
      [1, 'ok'],
    ] as const) {
      expect(verdict(inside, `http://10.1.2.3:${port}/`)).toBe(expected);
      expect(verdict(inside, `http://crm:${port}/`)).toBe(expected);
      expect(verdict(loopback, `http://localhost:${port}/`)).toBe(expected);
      expect(inside.allowsPort('10.1.2.3', port)).toBe(port === 1);
    }
  });
});

describe('the address guard’s check of local names', () => {
  it.each(['localhost', 'local', 'home.arpa', 'internal', 'localdomain', 'lan', 'intranet', 'corp'])(
    'refuses names that end in .%s',
    (name) => {
      expect(verdict(open, `http://crm.${name}/`)).toBe('local');
      expect(verdict(open, `http://crm.${name}./`)).toBe('local');
      expect(verdict(open, `http://crm.not${name}/`)).toBe('ok');
      expect(verdict(open, `http://${name}.example.com/`)).toBe('ok');
    },
  );

  it('refuses localhost when only other networks are allowed', () => {
    for (const name of ['localhost', 'a.localhost', 'ab.localhost', 'a.b.localhost']) {
      expect(verdict(inside, `http://${name}/`), name).toBe('local');
      expect(verdict(loopback, `http://${name}/`), name).toBe('ok');
    }
    expect(verdict(inside, 'http://notlocalhost/')).toBe('ok');
  });
});

describe('the address guard’s check of lengths', () => {
  it('accepts host names of up to 253 characters', () => {
    const name = (length: number) => `${'a.'.repeat((length - 7) / 2)}${length % 2 === 0 ? 'b' : ''}example`;
    const long = 'a'.repeat(61);
    const exact = `${long}.${long}.${long}.${'a'.repeat(59)}.example`;
    expect(name(253)).toHaveLength(253);
    expect(exact).toHaveLength(253);
    expect(verdict(open, `http://${name(253)}/`)).toBe('ok');
    expect(verdict(open, `http://${exact}/`)).toBe('ok');
    expect(verdict(open, `http://a${exact}/`)).toBe('invalid');
  });

  it('measures the URL as the customer wrote it, even if the parsed URL is shorter', () => {
    const url = `https://hooks.example.com/${'./'.repeat(MAX_URL_LENGTH / 2)}`;
    expect(new URL(url).href.length).toBeLessThan(MAX_URL_LENGTH);
    expect(verdict(open, url)).toBe('length');
  });
});

it('the address guard checks the whole URL and the whole host, not only their beginnings or ends', () => {
  expect(verdict(open, 'xhttps://hooks.example.com/')).toBe('scheme');
  expect(verdict(open, 'https://hooks.example.com//a@b')).toBe('ok');
  expect(readLiteral('[8.8.8.8]')?.toString()).toBe('8.8.8.8');
  for (const host of ['8[.8.8.8]', '[8.8.8.]8', 'x[8.8.8.8]'])
    expect(readLiteral(host), host).toBeUndefined();
});

describe('the address guard’s setting allowedNetworks', () => {
  it.each(['10.0.0.0/0x8', '10.0.0.0/ 8', '10.0.0.0/8 ', '10.0.0.0/1e1', '10.0.0.0/+8', '10.0.0.0/0008'])(
    'is refused by createAddressGuard when it has the invalid network %j',
    (text) => {
      expect(() => createAddressGuard({ allowedNetworks: [text] })).toThrow(TypeError);
    },
  );

  it('covers the same range when the network is written in IPv4-mapped form', () => {
    const guard = createAddressGuard({ allowedNetworks: ['::ffff:10.0.0.0/104'] });
    for (const [ip, allowed] of [
      ['10.0.0.0', true],
      ['10.255.255.255', true],
      ['11.0.0.0', false],
      ['9.255.255.255', false],
    ] as const) {
      expect(guard.allowsPort(ip, 81), ip).toBe(allowed);
    }
  });

  it.each([
    ['fd00:ec2::254', true],
    ['fd00:ec2::254/128', true],
    ['fd00:ec2::254/127', false],
    ['fd00:ec2::/32', false],
  ])(
    'allows the metadata service fd00:ec2::254 only when it lists that single address: %s → %s',
    (network, allowed) => {
      expect(createAddressGuard({ allowedNetworks: [network] }).allows('fd00:ec2::254')).toBe(allowed);
    },
  );
});
