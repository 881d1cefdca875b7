/**
 * The table of the address guard: addresses, names and URLs with the expected verdict and the reason. It was written
 * by hand from the registries (IANA special-purpose addresses, RFC 6890) and from the behaviour of URL parsers. It
 * does not use the guard.
 */

/**
 * The expected outcome for a URL:
 * - `creation`: refused when the customer enters the URL.
 * - `connect`: accepted at first, but refused before a connection is opened.
 * - `cut`: the connection is opened and closed before a byte is sent, because the socket is connected to an address
 *   other than the checked one.
 * - `nowhere`: there is no address to connect to.
 * - `reached`: connected.
 */
export type Verdict = 'creation' | 'connect' | 'cut' | 'nowhere' | 'reached';

export interface Row {
  url: string;
  verdict: Verdict;
  why: string;
  /**
   * The addresses that the name resolves to: the first answer, the second, and so on. Further look-ups get the last
   * answer again.
   */
  answers?: string[][];
  /** The networks that the operator allows. */
  allowed?: string[];
  /** The remote address of the socket, if it differs from the requested address. */
  remote?: string;
}

const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address);
const literals = (verdict: Verdict, why: string, ...addresses: string[]): Row[] =>
  addresses.map((address) => ({ url: `https://${bracket(address)}/hook`, verdict, why }));
/**
 * Returns rows in which a host name resolves to the address, so that the guard learns the address only when it
 * resolves the name.
 */
const named = (why: string, ...addresses: string[]): Row[] =>
  addresses.map((address) => {
    const verdict = 'connect';
    return { url: 'https://hook.example.com/', verdict, why: `a name for ${why}`, answers: [[address]] };
  });
const both = (why: string, ...addresses: string[]): Row[] => [
  ...literals('creation', why, ...addresses),
  ...named(why, ...addresses),
];
const urls = (verdict: Verdict, why: string, ...given: string[]): Row[] =>
  given.map((url) => ({ url, verdict, why, answers: [['8.8.8.8']] }));
const host = (verdict: Verdict, why: string, ...hosts: string[]): Row[] =>
  urls(verdict, why, ...hosts.map((one) => `https://${one}/hook`));
const ports = (verdict: Verdict, why: string, ...given: number[]): Row[] =>
  urls(verdict, why, ...given.map((port) => `http://hook.example.com:${port}/`));

const LIMIT = 2048;

export const ROWS: Row[] = [
  ...both('this network (RFC 1122)', '0.0.0.0', '0.0.0.1', '0.255.255.255'),
  ...both('private (RFC 1918)', '10.0.0.0', '10.0.0.1', '10.255.255.255'),
  ...both('private (RFC 1918)', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'),
  ...both('carrier-grade NAT (RFC 6598)', '100.64.0.0', '100.100.100.100', '100.127.255.255'),
  ...both('loopback', '127.0.0.0', '127.0.0.1', '127.0.0.53', '127.1.2.3', '127.255.255.255'),
  ...both('link-local (RFC 3927)', '169.254.0.1', '169.254.255.255'),
  ...both('metadata of a cloud', '169.254.169.254', '169.254.170.2', '169.254.170.23', '100.100.100.200'),
  ...both('metadata of a cloud, on a public address', '168.63.129.16'),
  ...both('metadata of a cloud', '192.0.0.192'),
  ...both('IETF protocol assignments (RFC 6890)', '192.0.0.1', '192.0.0.170', '192.0.0.255'),
  ...both('documentation (RFC 5737)', '192.0.2.1', '198.51.100.7', '203.0.113.255'),
  ...both('6to4 relays (RFC 7526)', '192.88.99.1'),
  ...both('benchmarking (RFC 2544)', '198.18.0.0', '198.18.0.1', '198.19.255.255'),
  ...both('multicast', '224.0.0.1', '232.1.2.3', '239.255.255.250'),
  ...both('reserved (RFC 1112)', '240.0.0.1', '250.1.2.3', '255.255.255.254'),
  ...both('broadcast', '255.255.255.255'),

  ...both('unspecified', '::'),
  ...both('loopback', '::1'),
  ...both('IPv4-compatible (RFC 4291, deprecated)', '::127.0.0.1', '::8.8.8.8', '::7f00:1'),
  ...both('IPv4-mapped loopback', '::ffff:127.0.0.1', '::ffff:7f00:1'),
  ...both('IPv4-mapped private', '::ffff:10.0.0.1', '::ffff:192.168.1.1', '::ffff:ac10:1'),
  ...both('IPv4-mapped metadata', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe'),
  ...both('IPv4-translated (RFC 2765)', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'),
  ...both(
    'NAT64 of loopback, private and metadata',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:1',
    '64:ff9b::a9fe:a9fe',
  ),
  ...both('NAT64 of a public address: a gateway of ours', '64:ff9b::808:808'),
  ...both('local NAT64 (RFC 8215)', '64:ff9b:1::1', '64:ff9b:1:ffff::7f00:1'),
  ...both('discard (RFC 6666)', '100::1'),
  ...both('Teredo (RFC 4380)', '2001::1', '2001:0:7f00:1::1', '2001:0:808:808::1'),
  ...both('benchmarking (RFC 5180)', '2001:2::1'),
  ...both('ORCHID (RFC 4843, RFC 7343)', '2001:10::1', '2001:20::1'),
  ...both('documentation (RFC 3849)', '2001:db8::1'),
  ...both('documentation (RFC 9637)', '3fff::1'),
  ...both('6to4 of loopback and private', '2002:7f00:1::1', '2002:a00:1::1', '2002:a9fe:a9fe::1'),
  ...both('6to4 of a public address', '2002:808:808::1'),
  ...both('unique local (RFC 4193)', 'fc00::1', 'fd12:3456::1'),
  ...both('metadata of a cloud', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'),
  ...both('link-local', 'fe80::1', 'febf::1'),
  ...both('site-local (RFC 3879, deprecated)', 'fec0::1'),
  ...both('multicast', 'ff02::1', 'ff05::2', 'ff0e::1'),
  ...both('segment routing (RFC 9602)', '5f00::1'),
  ...both('not given out', '4000::1', '8000::1', 'e000::1'),

  ...literals('reached', 'public', '1.1.1.1', '8.8.8.8', '93.184.216.34', '223.255.255.255'),
  ...literals('reached', 'public, beside a private network', '9.255.255.255', '11.0.0.0'),
  ...literals('reached', 'public, beside a private network', '172.15.255.255', '172.32.0.0'),
  ...literals('reached', 'public, beside a private network', '192.167.255.255', '192.169.0.0'),
  ...literals('reached', 'public, beside carrier-grade NAT', '100.63.255.255', '100.128.0.0'),
  ...literals('reached', 'public, beside the loopback', '126.255.255.255', '128.0.0.1'),
  ...literals('reached', 'public, beside link-local', '169.253.255.255', '169.255.0.0'),
  ...literals('reached', 'public, beside benchmarking', '198.17.255.255', '198.20.0.0'),
  ...literals('reached', 'public', '2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001::1'),
  ...literals('reached', 'IPv4-mapped public', '::ffff:8.8.8.8', '::ffff:808:808'),

  ...host('creation', 'loopback in octal', '0177.0.0.1', '0177.0.0.01', '017700000001'),
  ...host('creation', 'loopback in hex', '0x7f.0.0.1', '0x7f.0x0.0x0.0x1', '0x7f000001', '0X7F.1'),
  ...host('creation', 'loopback as one number', '2130706433'),
  ...host('creation', 'loopback, shortened', '127.1', '127.0.1', '0x7f.1', '0177.1'),
  ...host('creation', 'this network, shortened', '0', '0x0', '00'),
  ...host(
    'creation',
    'metadata in other bases',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '0xa9.254.43518',
  ),
  ...host('creation', 'private in mixed bases', '0xa.1', '012.0.0.1', '0xc0.168.1'),
  ...host('creation', 'a literal with a dot at its end', '127.0.0.1.', '0x7f.1.', '10.0.0.1.'),
  ...host('creation', 'percent-encoded', '%31%32%37.0.0.1', '127%2e0%2e0%2e1', '%6c%6f%63%61%6c%68%6f%73%74'),
  ...host('creation', 'full-width digits', '１２７.０.０.１', '１０.0.0.1'),
  ...host('creation', 'ideographic full stops', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'),
  ...host('creation', 'circled digits', '①②⑦.⓪.⓪.①'),
  ...host('creation', 'a name in other letters', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ'),
  ...host('creation', 'more than an address', '256.0.0.1', '127.0.0.1.1', '4294967296', '0x100000000'),
  ...host('creation', 'a zone', '[fe80::1%25eth0]', '[::1%25lo]', '[fe80::1%eth0]', '[2606:4700::1%251]'),
  ...host('creation', 'loopback in full', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]'),
  ...host('creation', 'bad brackets', '[127.0.0.1]', '[::1', '[::g]', '[v1.fe80::a]'),

  ...host('creation', 'this machine', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'LocalHost.'),
  ...host(
    'creation',
    'a name of a local network',
    'printer.local',
    'router.lan',
    'nas.home.arpa',
    'db.internal',
  ),
  ...host('creation', 'a name of a local network', 'metadata.google.internal', 'wiki.corp', 'a.localdomain'),
  ...host('creation', 'a name without a dot', 'intranet', 'metadata', 'com', 'kubernetes'),
  ...host(
    'creation',
    'not a name',
    'a..b.example',
    '-.',
    'a%00.example',
    `${'a'.repeat(64)}.example`,
    'a,b.example',
  ),
  ...host(
    'reached',
    'a public name',
    'hook.example.com',
    'HOOK.Example.COM',
    'hook.example.com.',
    'bücher.example',
  ),
  ...host(
    'reached',
    'a public name',
    'xn--bcher-kva.example',
    'a_b.example',
    '1.example',
    '127.0.0.1.example',
  ),

  ...urls('creation', 'credentials', 'https://user:word@hook.example.com/', 'https://user@hook.example.com/'),
  ...urls('creation', 'credentials', 'https://@hook.example.com/', 'https://:@hook.example.com/'),
  ...urls('creation', 'credentials that look like a host', 'https://hook.example.com@127.0.0.1/'),
  ...urls(
    'creation',
    'credentials that look like a host',
    'https://127.0.0.1@hook.example.com/',
    'https://a@b@c.example/',
  ),
  ...urls('creation', 'a fragment', 'https://hook.example.com/#a', 'https://hook.example.com/#@127.0.0.1/'),
  ...urls(
    'creation',
    'a backslash',
    'https://hook.example.com\\@127.0.0.1/',
    'https:\\\\127.0.0.1\\',
    'https://a.example\\b',
  ),
  ...urls(
    'creation',
    'white space or a control character',
    'https://hook.example.com/ a',
    ' https://hook.example.com/',
  ),
  ...urls(
    'creation',
    'white space or a control character',
    'https://hook\n.example.com/',
    'https://127.0.0.1\t/',
  ),
  ...urls(
    'creation',
    'white space or a control character',
    'https://hook.example.com/\r\nHost: a',
    'https://a.example/\u0000',
  ),
  ...urls(
    'creation',
    'another scheme',
    'ftp://hook.example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_',
  ),
  ...urls(
    'creation',
    'another scheme',
    'javascript:alert(1)',
    'data:,a',
    'ws://hook.example.com/',
    'unix:/run/a.sock',
  ),
  ...urls(
    'creation',
    'not in full',
    '//hook.example.com/',
    '/hook',
    'hook.example.com',
    'https:hook.example.com',
  ),
  ...urls('creation', 'not in full', 'https:/hook.example.com', 'https:///hook.example.com', '', 'https://'),
  ...urls('creation', 'too long', `https://hook.example.com/${'a'.repeat(LIMIT)}`),
  ...urls('creation', 'too long once encoded', `https://hook.example.com/${'é'.repeat(LIMIT / 4)}`),
  ...urls(
    'reached',
    'an odd path',
    'https://hook.example.com/../../a',
    'https://hook.example.com//127.0.0.1/',
  ),
  ...urls(
    'reached',
    'an odd query',
    'https://hook.example.com/?url=http://127.0.0.1/@a',
    'HTTPS://hook.example.com/',
  ),

  ...ports(
    'creation',
    'a port of another service',
    0,
    1,
    21,
    22,
    23,
    25,
    53,
    81,
    110,
    143,
    389,
    445,
    465,
    587,
    993,
    1023,
  ),
  ...ports(
    'creation',
    'a port of another service',
    1433,
    1521,
    2049,
    2375,
    2379,
    3306,
    3389,
    5060,
    5432,
    5672,
    5900,
  ),
  ...ports('creation', 'a port of another service', 6000, 6379, 6667, 9042, 9092, 9200, 10250, 11211, 27017),
  ...ports('creation', 'not a port', 65_536, 99_999),
  ...ports('reached', 'a port of the open web', 80, 443, 1024, 3000, 8000, 8080, 8443, 65_535),
  { url: 'http://8.8.8.8:25/', verdict: 'creation', why: 'a port of another service' },

  {
    url: 'https://hook.example.com/',
    verdict: 'connect',
    why: 'one private address among public ones',
    answers: [['8.8.8.8', '10.0.0.1']],
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'connect',
    why: 'one loopback address among public ones, in IPv6',
    answers: [['2606:4700::1111', '8.8.8.8', '::1']],
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'connect',
    why: 'a resolver’s answer with a zone',
    answers: [['fe80::1%eth0']],
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'connect',
    why: 'a resolver’s answer that is no address',
    answers: [['localhost'], ['8.8.8.8']],
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'reached',
    why: 'rebinding: the second answer, a private one, is never asked for',
    answers: [['8.8.8.8'], ['127.0.0.1']],
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'cut',
    why: 'the socket is elsewhere than where it was dialled',
    answers: [['8.8.8.8']],
    remote: '127.0.0.1',
  },
  {
    url: 'https://hook.example.com/',
    verdict: 'cut',
    why: 'the socket is at another public address than the one dialled',
    answers: [['8.8.8.8']],
    remote: '1.1.1.1',
  },
  { url: 'https://hook.example.com/', verdict: 'nowhere', why: 'a name without an address', answers: [[]] },

  { url: 'https://10.1.2.3/', verdict: 'reached', why: 'an allowed network', allowed: ['10.0.0.0/8'] },
  {
    url: 'https://11.1.2.3/',
    verdict: 'reached',
    why: 'public beside an allowed network',
    allowed: ['10.0.0.0/8'],
  },
  {
    url: 'https://192.168.1.1/',
    verdict: 'creation',
    why: 'not the allowed network',
    allowed: ['10.0.0.0/8'],
  },
  {
    url: 'http://10.1.2.3:6379/',
    verdict: 'reached',
    why: 'any port of an allowed network',
    allowed: ['10.0.0.0/8'],
  },
  { url: 'http://8.8.8.8:6379/', verdict: 'creation', why: 'a port outside of it', allowed: ['10.0.0.0/8'] },
  {
    url: 'http://hook.example.com:6379/',
    verdict: 'connect',
    why: 'a port outside of it, behind a name',
    allowed: ['10.0.0.0/8'],
    answers: [['8.8.8.8']],
  },
  {
    url: 'http://wiki/',
    verdict: 'reached',
    why: 'a local name in an allowed network',
    allowed: ['10.0.0.0/8'],
    answers: [['10.0.0.7']],
  },
  {
    url: 'http://wiki/',
    verdict: 'connect',
    why: 'a local name elsewhere',
    allowed: ['10.0.0.0/8'],
    answers: [['192.168.0.7']],
  },
  {
    url: 'https://[::ffff:10.1.2.3]/',
    verdict: 'reached',
    why: 'an allowed network, mapped',
    allowed: ['10.0.0.0/8'],
  },
  {
    url: 'http://127.0.0.1:8081/',
    verdict: 'reached',
    why: 'the loopback, allowed',
    allowed: ['127.0.0.0/8'],
  },
  {
    url: 'http://[::1]:8081/',
    verdict: 'creation',
    why: 'the loopback of IPv6 is not it',
    allowed: ['127.0.0.0/8'],
  },
  {
    url: 'http://localhost:8081/',
    verdict: 'reached',
    why: 'the loopback’s name',
    allowed: ['127.0.0.0/8'],
    answers: [['127.0.0.1']],
  },
  {
    url: 'http://169.254.169.254/',
    verdict: 'creation',
    why: 'metadata inside an allowed network',
    allowed: ['169.254.0.0/16'],
  },
  {
    url: 'http://169.254.169.254/',
    verdict: 'reached',
    why: 'metadata, allowed by its very address',
    allowed: ['169.254.169.254/32'],
  },
  {
    url: 'http://100.100.100.200/',
    verdict: 'creation',
    why: 'metadata inside an allowed network',
    allowed: ['100.64.0.0/10'],
  },
  {
    url: 'http://[64:ff9b::a00:1]/',
    verdict: 'creation',
    why: 'NAT64 of what is not allowed',
    allowed: ['64:ff9b::/96'],
  },
  {
    url: 'http://[64:ff9b::808:808]/',
    verdict: 'reached',
    why: 'NAT64 of a public address, where the gateway is allowed',
    allowed: ['64:ff9b::/96'],
  },
];
