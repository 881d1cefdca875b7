import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AddressGuard,
  createAddressGuard,
  MAX_URL_LENGTH,
  readLiteral,
  URL_REASONS,
} from './addresses.ts';

type Reason = keyof typeof URL_REASONS;
type UrlRow = [url: string, verdict: 'ok' | Reason];
type IpRow = [ip: string, allowed: boolean];

const long = (length: number) => `https://hooks.example.com/${'a'.repeat(length - 26)}`;

/** Callback URLs with the expected result of a guard that has no allowed network. */
const URLS: UrlRow[] = [
  // URLs of public hosts, which are allowed.
  ['https://hooks.example.com/cb', 'ok'],
  ['http://hooks.example.com/cb?a=1&b=%2F', 'ok'],
  ['HTTPS://HOOKS.EXAMPLE.COM', 'ok'],
  ['https://hooks.example.com:443/', 'ok'],
  ['http://hooks.example.com:80/', 'ok'],
  ['https://hooks.example.com:8443/', 'ok'],
  ['http://hooks.example.com:65535/', 'ok'],
  ['https://hooks.example.com./', 'ok'],
  ['https://under_score.example.com/', 'ok'],
  ['https://bücher.example/', 'ok'],
  ['https://hooks.example.com/ä', 'ok'],
  ['https://hooks.example.com/@user', 'ok'],
  ['https://hooks.example.com/?mail=a@b.example', 'ok'],
  ['https://localhost.example.com/', 'ok'],
  ['https://notlocal/', 'local'],
  ['https://127.0.0.1.example.com/', 'ok'],
  ['https://8.8.8.8/', 'ok'],
  ['https://[2606:4700::1111]/', 'ok'],
  ['https://[::ffff:8.8.8.8]/', 'ok'],
  [long(MAX_URL_LENGTH), 'ok'],
  // URLs with a wrong length, character or form.
  [long(MAX_URL_LENGTH + 1), 'length'],
  [`https://hooks.example.com/${'ä'.repeat(400)}`, 'length'],
  ['', 'scheme'],
  ['hooks.example.com', 'scheme'],
  ['//hooks.example.com/', 'scheme'],
  ['https:hooks.example.com', 'scheme'],
  ['https:/hooks.example.com', 'scheme'],
  ['https:///hooks.example.com', 'scheme'],
  ['ftp://hooks.example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://hooks.example.com/', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['data:text/plain,x', 'scheme'],
  ['unix:/var/run/docker.sock', 'scheme'],
  ['ws://hooks.example.com/', 'scheme'],
  [' https://hooks.example.com/', 'characters'],
  ['https://hooks.example.com/ ', 'characters'],
  ['https://hooks.exa\tmple.com/', 'characters'],
  ['https://hooks.example.com/\r\nX-Evil: 1', 'characters'],
  ['https://hooks.example.com\u0000.evil.example/', 'characters'],
  ['https://hooks.example.com\\@127.0.0.1/', 'characters'],
  ['https:\\\\hooks.example.com', 'characters'],
  ['https://hooks.example.com\u00a0/', 'characters'],
  ['https://user@hooks.example.com/', 'credentials'],
  ['https://user:pass@hooks.example.com/', 'credentials'],
  ['https://@hooks.example.com/', 'credentials'],
  ['https://hooks.example.com@127.0.0.1/', 'credentials'],
  ['https://hooks.example.com:pass@[::1]/', 'credentials'],
  ['https://hooks.example.com/#top', 'fragment'],
  ['https://hooks.example.com/#', 'fragment'],
  ['https://127.0.0.1#.example.com/', 'fragment'],
  ['https://', 'scheme'],
  ['https://?x', 'invalid'],
  ['https://hooks.example.com:99999/', 'invalid'],
  ['https://hooks.example.com:x/', 'invalid'],
  ['https://a..example.com/', 'invalid'],
  ['https://*.example.com/', 'invalid'],
  [`https://${'a'.repeat(64)}.example.com/`, 'invalid'],
  [`https://${'a.'.repeat(130)}example.com/`, 'invalid'],
  ['https://1.2.3.4.5/', 'invalid'],
  ['https://256.1.1.1/', 'invalid'],
  ['https://host.0x7f/', 'invalid'],
  ['https://[::1/', 'invalid'],
  ['https://[fe80::1%25eth0]/', 'invalid'],
  ['https://exa%00mple.com/', 'invalid'],
  // URLs with local host names, which are refused.
  ['http://localhost/', 'local'],
  ['http://LOCALHOST:3000/', 'local'],
  ['http://localhost./', 'local'],
  ['http://a.localhost/', 'local'],
  ['http://localhost.localdomain/', 'local'],
  ['http://printer.local/', 'local'],
  ['http://metadata.google.internal/', 'local'],
  ['http://host.docker.internal/', 'local'],
  ['http://nas.home.arpa/', 'local'],
  ['http://intranet/', 'local'],
  ['http://crm.corp/', 'local'],
  ['http://ⓛocalhost/', 'local'],
  ['http://%6cocalhost/', 'local'],
  // URLs with the loopback address in every spelling.
  ['http://127.0.0.1/', 'address'],
  ['http://127.0.0.1./', 'address'],
  ['http://127.1/', 'address'],
  ['http://127.0.1/', 'address'],
  ['http://127.255.255.254:8080/', 'address'],
  ['http://2130706433/', 'address'],
  ['http://0x7f000001/', 'address'],
  ['http://0x7f.1/', 'address'],
  ['http://0x7F.0x0.0x0.0x1/', 'address'],
  ['http://017700000001/', 'address'],
  ['http://0177.0.0.1/', 'address'],
  ['http://0177.0.0.0x1/', 'address'],
  ['http://00000177.1/', 'address'],
  ['http://%31%32%37.0.0.1/', 'address'],
  ['http://①②⑦.⓪.⓪.①/', 'address'],
  ['http://１２７.0.0.1/', 'address'],
  ['http://127。0。0。1/', 'address'],
  ['http://[::1]/', 'address'],
  ['http://[0:0:0:0:0:0:0:1]/', 'address'],
  ['http://[::127.0.0.1]/', 'address'],
  ['http://[::ffff:127.0.0.1]/', 'address'],
  ['http://[::ffff:7f00:1]/', 'address'],
  ['http://[0:0:0:0:0:FFFF:7F00:0001]/', 'address'],
  ['http://[::ffff:0:127.0.0.1]/', 'address'],
  ['http://[64:ff9b::127.0.0.1]/', 'address'],
  ['http://[64:ff9b:1::7f00:1]/', 'address'],
  ['http://[2002:7f00:1::]/', 'address'],
  ['http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', 'address'],
  // URLs with literal addresses of other private networks.
  ['http://0/', 'address'],
  ['http://0.0.0.0/', 'address'],
  ['http://0x/', 'address'],
  ['http://[::]/', 'address'],
  ['http://10.0.0.1/', 'address'],
  ['http://167772161/', 'address'],
  ['http://012.1/', 'address'],
  ['http://172.16.0.1/', 'address'],
  ['http://192.168.257/', 'address'],
  ['http://169.254.169.254/latest/meta-data/', 'address'],
  ['http://0xa9fea9fe/', 'address'],
  ['http://[::ffff:a9fe:a9fe]/', 'address'],
  ['http://[fd00:ec2::254]/', 'address'],
  ['http://168.63.129.16/', 'address'],
  ['http://255.255.255.255/', 'address'],
  // URLs with allowed and with refused ports.
  ['http://hooks.example.com:0/', 'port'],
  ['http://hooks.example.com:22/', 'port'],
  ['http://hooks.example.com:25/', 'port'],
  ['http://hooks.example.com:81/', 'port'],
  ['http://hooks.example.com:1023/', 'port'],
  ['http://hooks.example.com:5432/', 'port'],
  ['http://hooks.example.com:6379/', 'port'],
  ['http://hooks.example.com:6667/', 'port'],
  ['http://hooks.example.com:11211/', 'port'],
  ['http://8.8.8.8:53/', 'port'],
  ['http://[2606:4700::1111]:25/', 'port'],
];

const IPS: IpRow[] = [
  ...(
    '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 ' +
    '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 ' +
    '198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8 ::ffff:808:808 2606:4700::1111 ' +
    '2a00:1450:4001::1 2400::1 2001:4860:4860::8888 2003::1'
  ).split(' '),
].map((ip): IpRow => [ip, true]);
IPS.push(
  ...[
    ...(
      '0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 ' +
      '127.255.255.255 169.254.0.0 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.192 ' +
      '192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.1 ' +
      '203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255 100.100.100.200 168.63.129.16 ' +
      ':: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:7f00:1 ::ffff:0:8.8.8.8 ' +
      '64:ff9b::8.8.8.8 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 ' +
      '2001:20::1 2001:db8::1 2002:808:808::1 2002:a00:1::1 3fff::1 4000::1 5f00::1 fc00::1 ' +
      'fd00:ec2::254 fd12:3456::1 fe80::1 fec0::1 feff::1 ff02::1 fe80::1%eth0 2606:4700::1111%eth0 ' +
      '2606:4700::1%1'
    ).split(' '),
    // Unusual text forms of addresses are refused, not interpreted.
    ...(
      'localhost example.com 0x8.8.8.8 010.8.8.8 134744072 8.8 [2606:4700::1] 8.8.8.8/32 08.8.8.8 ' +
      '8.8.8.8.'
    ).split(' '),
    ...['', '8.8.8.8 '],
  ].map((ip): IpRow => [ip, false]),
);

/** Returns the rows of this file's tables for which a guard gives a wrong result. */
function wrongUrls(guard: AddressGuard, rows: readonly UrlRow[]): string[] {
  return rows.flatMap(([url, expected]) => {
    const verdict = guard.checkUrl(url);
    const got = verdict.ok ? 'ok' : verdict.reason;
    return got === (expected === 'ok' ? 'ok' : URL_REASONS[expected]) ? [] : [`${url}: ${got}`];
  });
}

function wrongIps(guard: AddressGuard, rows: readonly IpRow[]): string[] {
  return rows.flatMap(([ip, allowed]) => (guard.allows(ip) === allowed ? [] : [ip]));
}

const open = createAddressGuard({ allowedNetworks: [] });

describe('an address guard without allowed networks', () => {
  test('gives the expected error message for every URL in the table', () => {
    expect(wrongUrls(open, URLS)).toEqual([]);
    expect(URLS.length).toBeGreaterThan(100);
  });

  test('allows or refuses every address in the table as expected, at both ends of each range', () => {
    expect(wrongIps(open, IPS)).toEqual([]);
  });

  test('that compares only text or allows everything gives wrong results for URLs and addresses of the tables', () => {
    const private4 = /^(127\.|10\.|192\.168\.|169\.254\.|172\.16\.)/;
    const byText: AddressGuard = {
      ...open,
      checkUrl: (url) => {
        const host = /^https?:\/\/([^/:]+)/.exec(url)?.[1] ?? '';
        return private4.test(host)
          ? { ok: false, reason: URL_REASONS.address }
          : open.checkUrl('https://a.example');
      },
      allows: (ip) => !private4.test(ip),
    };
    expect(wrongUrls(byText, URLS)).toContain(`http://0x7f.1/: ok`);
    expect(wrongIps(byText, IPS)).toContain('::ffff:7f00:1');
    const everything = createAddressGuard({ allowedNetworks: ['0.0.0.0/0', '::/0'] });
    expect(wrongUrls(everything, URLS)).toContain('http://127.1/: ok');
    expect(wrongIps(everything, IPS)).toContain('10.0.0.0');
  });

  test('writes each error message as one sentence that does not repeat the customer’s text', () => {
    for (const reason of Object.values(URL_REASONS)) expect(reason).toMatch(/^This .*[^.]\.$/);
    const verdict = open.checkUrl('https://canary:canary@127.0.0.1/canary');
    expect(JSON.stringify(verdict)).not.toContain('canary');
  });

  test('returns the parsed URL from checkUrl', () => {
    const verdict = open.checkUrl('HTTPS://Hooks.Example.com:443/a?b=c');
    expect(verdict.ok && verdict.url.href).toBe('https://hooks.example.com/a?b=c');
  });
});

describe('an address guard with allowed networks', () => {
  const rows: [networks: string[], ips: IpRow[]][] = [
    [
      ['127.0.0.0/8'],
      [
        ['127.0.0.1', true],
        ['::ffff:127.0.0.1', true],
        ['::127.0.0.1', false],
        ['::1', false],
        ['10.0.0.1', false],
      ],
    ],
    [
      ['127.0.0.1'],
      [
        ['127.0.0.1', true],
        ['127.0.0.2', false],
      ],
    ],
    [
      ['::1/128'],
      [
        ['::1', true],
        ['127.0.0.1', false],
        ['::2', false],
      ],
    ],
    [
      ['::ffff:10.0.0.0/104'],
      [
        ['10.1.2.3', true],
        ['::ffff:10.1.2.3', true],
        ['11.0.0.1', true],
      ],
    ],
    [
      ['10.9.8.7/8'],
      [
        ['10.0.0.1', true],
        ['172.16.0.1', false],
      ],
    ],
    [
      ['fd00::/8'],
      [
        ['fd12::1', true],
        ['fc00::1', false],
        ['fd00:ec2::254', false],
      ],
    ],
    [
      ['169.254.0.0/16'],
      [
        ['169.254.1.1', true],
        ['169.254.169.254', false],
        ['::ffff:a9fe:a9fe', false],
      ],
    ],
    [
      ['169.254.169.254/32'],
      [
        ['169.254.169.254', true],
        ['169.254.170.2', false],
      ],
    ],
    [
      ['0.0.0.0/0'],
      [
        ['10.0.0.1', true],
        ['169.254.169.254', false],
        ['168.63.129.16', false],
        ['::1', false],
      ],
    ],
    [
      ['64:ff9b::/96'],
      [
        ['64:ff9b::8.8.8.8', true],
        ['64:ff9b::10.0.0.1', false],
        ['64:ff9b::a9fe:a9fe', false],
      ],
    ],
    [['64:ff9b::/96', '10.0.0.0/8'], [['64:ff9b::10.0.0.1', true]]],
  ];

  test('allows private addresses only in these networks, and no metadata services', () => {
    for (const [networks, ips] of rows) {
      expect([networks, wrongIps(createAddressGuard({ allowedNetworks: networks }), ips)]).toEqual([
        networks,
        [],
      ]);
    }
  });

  test('accepts URLs with local names or unusual ports, which the connector checks later', () => {
    const guard = createAddressGuard({ allowedNetworks: ['10.0.0.0/8'] });
    expect(
      wrongUrls(guard, [
        ['http://10.1.2.3:81/', 'ok'],
        ['http://10.1.2.3:6379/', 'ok'],
        ['http://10.1.2.3:0/', 'port'],
        ['http://crm.internal:81/', 'ok'],
        ['http://crm:0/', 'port'],
        ['http://crm:8080/', 'ok'],
        ['http://8.8.8.8:81/', 'port'],
        ['http://localhost/', 'local'],
        ['http://192.168.0.1/', 'address'],
        ['http://user@10.1.2.3/', 'credentials'],
      ]),
    ).toEqual([]);
    expect(guard.allowsPort('10.1.2.3', 81)).toBe(true);
    expect(guard.allowsPort('10.1.2.3', 0)).toBe(false);
    expect(guard.allowsPort('8.8.8.8', 81)).toBe(false);
    expect(guard.allowsPort('crm', 81)).toBe(false);
    expect(guard.allowsPort('8.8.8.8', 443)).toBe(true);
  });

  test('allows localhost when the networks contain the loopback address, as in the demo', () => {
    for (const network of ['127.0.0.0/8', '::1/128']) {
      const guard = createAddressGuard({ allowedNetworks: [network] });
      expect(
        wrongUrls(guard, [
          ['http://localhost:4000/', 'ok'],
          ['http://a.localhost./', 'ok'],
          ['http://localhost:0/', 'port'],
        ]),
      ).toEqual([]);
    }
  });

  test('throws at its creation when a network is invalid', () => {
    for (const bad of [
      '',
      '10/8',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '::/129',
      '::ffff:0:0/95',
      'lan',
    ]) {
      expect(() => createAddressGuard({ allowedNetworks: [bad] }), bad).toThrow(TypeError);
    }
    expect(() => createAddressGuard({ allowedNetworks: ['fe80::1%eth0/64'] })).toThrow(TypeError);
  });
});

test('an address guard treats every spelling of an IPv4 address like the address itself', () => {
  const part = (value: number, form: number) =>
    form === 0 ? String(value) : form === 1 ? `0x${value.toString(16)}` : `0${value.toString(8)}`;
  fc.assert(
    fc.property(
      fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
      fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      ([a, b, c, d], forms, count) => {
        const values = [a, b, c, d];
        const last = values.slice(count - 1).reduce((sum, value) => sum * 256 + value, 0);
        const host = [...values.slice(0, count - 1), last]
          .map((value, i) => part(value, forms[i]!))
          .join('.');
        const allowed = open.allows(values.join('.'));
        expect(open.checkUrl(`http://${host}/`).ok).toBe(allowed);
        expect(readLiteral(host)?.toString()).toBe(values.join('.'));
        expect(open.allows(`::ffff:${values.join('.')}`)).toBe(allowed);
        expect(open.checkUrl(`http://[::ffff:${values.join('.')}]/`).ok).toBe(allowed);
      },
    ),
  );
});

test('checkUrl never throws, and accepts only http and https URLs without credentials and without private addresses', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.ipV4Extended(), fc.ipV6());
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('', 'http://', 'https://[', 'http://x@', 'http://a.b:'),
      (rest, start) => {
        const verdict = open.checkUrl(start + rest);
        if (!verdict.ok) return;
        expect(['http:', 'https:']).toContain(verdict.url.protocol);
        expect(verdict.url.username + verdict.url.password + verdict.url.hash).toBe('');
        const literal = readLiteral(verdict.url.hostname);
        if (literal) expect(open.allows(literal.toString())).toBe(true);
      },
    ),
  );
});
