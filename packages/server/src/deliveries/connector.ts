/**
 * How a delivery gets its socket. undici asks a connector for every new connection, IP literals included; a
 * custom `lookup` is not asked for literals, so it would protect nothing (measured: 0 calls for 127.0.0.1).
 *
 * Steps: a literal is checked; a name is resolved once and refused if *any* of its addresses is not allowed;
 * the socket is opened to a checked address, never to the name, so a second DNS answer is never used
 * (rebinding); `remoteAddress` is compared with the checked address before undici may write a byte. TLS still
 * verifies the name: SNI and certificate are those of the host in the URL.
 */
import { promises as dns } from 'node:dns';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressGuard, readLiteral } from './addresses.ts';

/** All addresses of a host name. Rejects as `dns.promises.lookup` does, with a `code` such as `ENOTFOUND`. */
export type Resolver = (hostname: string) => Promise<readonly { address: string }[]>;

/** Opens one socket to `hostname`, which is always an address here. `buildConnector()` makes one. */
export type Connect = buildConnector.connector;

/** The host is, or resolved to, an address that deliveries may not go to. The message names no address. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
}

/** Nobody answered in time, or no address was found. */
export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ConnectorSettings {
  guard: AddressGuard;
  /** Default: the system's resolver, all addresses, in its order. */
  resolver?: Resolver;
  connect?: Connect;
  /** Milliseconds for resolving and connecting together. Default 10,000. */
  timeoutMs?: number;
}

/** A name with a hundred dead addresses must not hold a slot: so many are tried, in the resolver's order. */
const MAX_ADDRESSES_TRIED = 4;

/** Another address of the same name may do better after these, and only these. */
const TRY_NEXT = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ETIMEDOUT'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The errors of the returned connector: `AddressRefused`, `ConnectFailed`, and those of resolver and connect. */
export function createConnector(settings: ConnectorSettings): Connect {
  const { guard, resolver = systemResolver, timeoutMs = 10_000 } = settings;
  // HTTP/1.1 only: with HTTP/2 one connection would carry many deliveries, and cutting one would cut all.
  // Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const connect =
    settings.connect ??
    buildConnector({ allowH2: false, rejectUnauthorized: true, timeout: Math.ceil(timeoutMs / 2) });

  async function open(options: buildConnector.Options, expired: () => boolean): Promise<Socket> {
    const { servername: _, ...target } = options;
    const name = readLiteral(options.hostname) ? undefined : options.hostname;
    const addresses = await checkedAddresses(options, name);
    let failure: unknown;
    for (const address of addresses.slice(0, MAX_ADDRESSES_TRIED)) {
      if (expired()) break;
      try {
        // RFC 6066 §3: SNI carries a name, never an address, and without the trailing dot.
        const servername = name?.replace(/\.$/, '');
        const dialled = { ...target, hostname: address, ...(servername === undefined ? {} : { servername }) };
        return await dial(connect, dialled, address, guard);
      } catch (error) {
        failure = error;
        if (!TRY_NEXT.has(codeOf(error))) break;
      }
    }
    throw failure ?? new ConnectFailed('ETIMEDOUT', 'no connection in time');
  }

  /** The addresses that may be dialled, in the resolver's order; never empty. */
  async function checkedAddresses(
    { hostname, port, protocol }: buildConnector.Options,
    name: string | undefined,
  ): Promise<string[]> {
    const literal = readLiteral(hostname);
    const found =
      name === undefined ? [literal!.toString()] : (await resolver(name)).map((one) => one.address);
    if (found.length === 0) throw new ConnectFailed('ENOTFOUND', 'the host name has no address');
    // One forbidden address among good ones is an attack or a mistake; choosing the good one would hide it.
    if (!found.every((address) => guard.allows(address))) {
      throw new AddressRefused(
        name === undefined
          ? 'the address is not public'
          : 'the host name resolves to an address that is not public',
      );
    }
    const number = port ? Number(port) : protocol === 'https:' ? 443 : 80;
    if (!found.every((address) => guard.allowsPort(address, number))) {
      throw new AddressRefused('the port is not one that deliveries may use');
    }
    return [...new Set(found)];
  }

  return (options, callback) => {
    let waiting = true;
    const answer: buildConnector.Callback = (...result) => {
      clearTimeout(timer);
      if (waiting) {
        waiting = false;
        callback(...result);
      } else if (result[1]) {
        discard(result[1]);
      }
    };
    // undici gives up a request only once its connection is made or failed: a resolver that hangs would keep
    // the slot for ever.
    const timer = setTimeout(
      () => answer(new ConnectFailed('ETIMEDOUT', 'no connection in time'), null),
      timeoutMs,
    );
    void open(options, () => !waiting).then(
      (socket) => answer(null, socket),
      (error) => answer(error, null),
    );
  };
}

/** One connection to one checked address; what comes back is connected to that address and no other. */
function dial(
  connect: Connect,
  options: buildConnector.Options,
  address: string,
  guard: AddressGuard,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) return reject(error);
      const remote = socket.remoteAddress;
      if (remote !== undefined && sameAddress(remote, address) && guard.allows(remote))
        return resolve(socket);
      discard(socket);
      reject(
        remote === undefined
          ? new ConnectFailed('ECONNRESET', 'the connection closed at once')
          : new AddressRefused('the connection led to another address than the one checked'),
      );
    });
  });
}

function sameAddress(one: string, other: string): boolean {
  return readLiteral(one)?.toString() === readLiteral(other)?.toString();
}

function discard(socket: Socket): void {
  // A socket on its way out may still fail; without a listener that would end the process.
  socket.on('error', () => {});
  socket.destroy();
}

/** The `code` of a Node or undici error, or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

const systemResolver: Resolver = (hostname) => dns.lookup(hostname, { all: true, order: 'verbatim' });
