/**
 * Decides which addresses a delivery may be sent to. The functions are pure: they use no DNS and no sockets.
 *
 *   - `checkUrl` runs when a request contains a URL, and checks everything that the text of the URL shows.
 *   - The connector calls `allows` and `allowsPort` for every address that a name resolves to.
 *
 * Only the connector's check gives protection, because a name can change its address at any time. `checkUrl`
 * is there to report mistakes to the customer at once.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Ip, number];

/** `reason` is one sentence for the customer, shown as `callback_url: <reason>`. It never repeats the URL. */
export type UrlVerdict = { ok: true; url: URL } | { ok: false; reason: string };

export interface AddressGuard {
  /** Checks a URL before it is stored. Even if it passes, the connector may refuse the host later. */
  checkUrl(url: string): UrlVerdict;
  /**
   * Returns true if deliveries may be sent to an address.
   * @param ip IPv4 or IPv6 in its usual text form. Any other text (a name, `0x7f.1`, a zone id) is refused.
   */
  allows(ip: string): boolean;
  /**
   * Allows the ports of the public web for every address, and any port in a network that the operator allowed.
   */
  allowsPort(ip: string, port: number): boolean;
}

/**
 * The maximum length of a URL, both as the customer wrote it and when normalized, because percent-encoding
 * can lengthen it.
 */
export const MAX_URL_LENGTH = 2048;

export const URL_REASONS = {
  length: 'This URL is longer than 2,048 characters.',
  characters: 'This URL must not contain spaces, control characters or backslashes.',
  scheme: 'This URL must begin with http:// or https://.',
  invalid: 'This is not a valid URL.',
  credentials: 'This URL must not contain a user name or password.',
  fragment: 'This URL must not contain a fragment (#).',
  local: 'This URL must name a public host, not one of a local network.',
  address: 'This URL must point to a public address, not a private or reserved one.',
  port: 'This URL must use port 443, port 80, or a port from 1024 that no other well-known service uses.',
} as const;

/**
 * Ports from 1024 on that belong to other protocols: the bad ports of the Fetch standard (§2.9), and those of
 * databases, caches, queues and remote desktops. A POST with a chosen body could have an effect on such
 * services.
 */
const CLOSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080, 1433, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 6379, 9042, 9092, 9200, 9300,
  10250, 11211, 27017,
]);

/**
 * Metadata services of clouds, which give credentials to anyone: the common address and those of ECS, EKS,
 * Azure, Alibaba, Oracle and Google on IPv6. They are refused even inside an allowed network, unless the
 * network contains only this one address. The metadata service of Azure (168.63.129.16) has a public address,
 * so no range covers it.
 */
const METADATA =
  `169.254.169.254 169.254.170.2 169.254.170.23 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254
fd00:ec2::23 fd20:ce::254`
    .split(/\s/)
    .map((text) => ipaddr.process(text).toString());

/** RFC 4291 §2.4 and the IANA registry: only 2000::/3 is assigned as global unicast. */
const GLOBAL_IPV6: Network = ipaddr.parseCIDR('2000::/3');
/** RFC 6052 §2.1: the well-known prefix of NAT64, with IPv4 in the last 32 bits. */
const NAT64: Network = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * Names for local use: RFC 6761 (localhost), RFC 6762 (local), RFC 8375 (home.arpa), ICANN 2024 (internal).
 */
const LOCAL_NAMES = ['localhost', 'local', 'home.arpa', 'internal', 'localdomain', 'lan', 'intranet', 'corp'];
const LOOPBACK_NAME = /^(.*\.)?localhost$/;
/**
 * The form of a host name's label (RFC 1035 §2.3.4). Underscores are added, because they are common in
 * practice.
 */
const LABEL = /^[a-z0-9_-]{1,63}$/;
const MAX_NAME_LENGTH = 253;

/**
 * Creates an address guard.
 * @param settings `allowedNetworks`: CIDRs (`10.0.0.0/8`, `fd00::/8`) or single addresses that are allowed
 * although they are not public. An IPv4 network also covers its IPv4-mapped form.
 * @throws TypeError for an invalid network, so that the program does not start with a wrong setting
 */
export function createAddressGuard(settings: { allowedNetworks: readonly string[] }): AddressGuard {
  const networks = settings.allowedNetworks.map(readNetwork);
  const listed = (ip: Ip) => networks.some((network) => within(ip, network));

  function allowsIp(ip: Ip): boolean {
    if (METADATA.includes(ip.toString())) {
      return networks.some(
        (network) => within(ip, network) && network[1] === (ip.kind() === 'ipv4' ? 32 : 128),
      );
    }
    // A NAT64 gateway forwards packets to the embedded IPv4 address, so both addresses must be allowed.
    if (within(ip, NAT64)) return listed(ip) && allowsIp(new ipaddr.IPv4(ip.toByteArray().slice(-4)));
    return listed(ip) || isPublic(ip);
  }

  function checkHost(host: string, port: number): string | undefined {
    const literal = readLiteral(host);
    if (literal !== undefined) {
      if (!allowsIp(literal)) return URL_REASONS.address;
      return isOpenPort(port) || (port > 0 && listed(literal)) ? undefined : URL_REASONS.port;
    }
    const name = host.replace(/\.$/, '');
    if (name.length > MAX_NAME_LENGTH || !name.split('.').every((label) => LABEL.test(label))) {
      return URL_REASONS.invalid;
    }
    if (LOOPBACK_NAME.test(name)) {
      if (!allowsIp(ipaddr.parse('127.0.0.1')) && !allowsIp(ipaddr.parse('::1'))) return URL_REASONS.local;
      return port > 0 ? undefined : URL_REASONS.port;
    }
    // A local name or an unusual port may belong to a network that the operator allowed. The connector decides,
    // because it knows the address.
    if (networks.length > 0) return port > 0 ? undefined : URL_REASONS.port;
    if (!name.includes('.') || LOCAL_NAMES.some((local) => name.endsWith(`.${local}`)))
      return URL_REASONS.local;
    return isOpenPort(port) ? undefined : URL_REASONS.port;
  }

  return {
    checkUrl(text) {
      const refuse = (reason: string): UrlVerdict => ({ ok: false, reason });
      if (text.length > MAX_URL_LENGTH) return refuse(URL_REASONS.length);
      // `new URL` silently repairs these mistakes. Other parsers read such URLs differently, and attackers
      // use that to defeat filters.
      if (/[\s\u0000-\u001f\u007f\\]/.test(text)) return refuse(URL_REASONS.characters);
      if (!/^https?:\/\/[^/]/i.test(text)) return refuse(URL_REASONS.scheme);
      if (/^[^/]*\/\/[^/?#]*@/.test(text)) return refuse(URL_REASONS.credentials);
      if (text.includes('#')) return refuse(URL_REASONS.fragment);
      const url = URL.parse(text);
      if (url === null) return refuse(URL_REASONS.invalid);
      if (url.href.length > MAX_URL_LENGTH) return refuse(URL_REASONS.length);
      const reason = checkHost(url.hostname, portOf(url));
      return reason === undefined ? { ok: true, url } : refuse(reason);
    },
    allows(ip) {
      return isIP(ip) !== 0 && !ip.includes('%') && allowsIp(parseIp(ip));
    },
    allowsPort(ip, port) {
      return isOpenPort(port) || (port > 0 && isIP(ip) !== 0 && listed(parseIp(ip)));
    },
  };
}

/**
 * Returns the address that a host is written as, or undefined for a name. Accepts every spelling that some
 * resolver accepts: brackets, octal, hexadecimal, short and decimal forms (`inet_aton`), IPv4-mapped IPv6.
 */
export function readLiteral(host: string): Ip | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return ipaddr.isValid(bare) ? parseIp(bare) : undefined;
}

/** Parses an address, and converts an IPv4-mapped address to IPv4. */
function parseIp(text: string): Ip {
  // ipaddr.js reads the deprecated ::127.0.0.1 as ::ffff:127.0.0.1, which is another address for the kernel.
  // The hexadecimal form from the URL parser is unambiguous. An address with a zone id cannot be in a URL and
  // is returned unchanged.
  const hex = isIP(text) === 6 ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined;
  return ipaddr.process(hex ?? text);
}

/** Returns the port of a URL, or the default port of its scheme. */
function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function isOpenPort(port: number): boolean {
  return port === 443 || port === 80 || (port >= 1024 && port <= 65535 && !CLOSED_PORTS.has(port));
}

function isPublic(ip: Ip): boolean {
  // ipaddr.js also calls unknown addresses `unicast`, such as the deprecated IPv4-compatible ::127.0.0.1.
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || within(ip, GLOBAL_IPV6));
}

function within(ip: Ip, [base, bits]: Network): boolean {
  return ip.kind() === base.kind() && ip.match(base, bits);
}

function readNetwork(text: string): Network {
  const [address = '', bits, ...rest] = text.split('/');
  // Checks with isIP first, because ipaddr.js reads `10/8` as 0.0.0.10/8.
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) throw notANetwork(text);
  const ip = parseIp(address);
  const width = isIP(address) === 4 ? 32 : 128;
  const length = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  // ::ffff:10.0.0.0/104 is the same network as 10.0.0.0/8, because addresses are compared as IPv4.
  const unwrapped = width === 128 && ip.kind() === 'ipv4' ? length - 96 : length;
  if (!(unwrapped >= 0 && length <= width)) throw notANetwork(text);
  return [ip, unwrapped];
}

function notANetwork(text: string): TypeError {
  return new TypeError(`not a network in CIDR form: ${text}`);
}
