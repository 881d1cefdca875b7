/**
 * Opens the sockets of deliveries, and checks every address. undici calls a connector for every new
 * connection, also to IP literals. It does not call a custom `lookup` function for literals, so such a
 * function would not protect against them (measured: 0 calls for 127.0.0.1).
 *
 *   - A literal is checked. A name is resolved once and refused if *any* of its addresses is not allowed.
 *   - The socket is opened to a checked address, never to the name, so a second DNS answer is never used (rebinding).
 *   - `remoteAddress` is compared with the checked address before undici may write a byte.
 *
 * TLS still verifies the name: SNI and certificate are those of the host in the URL.
 */
import { promises as dns } from 'node:dns';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressGuard, readLiteral } from './addresses.ts';

/**
 * Returns all addresses of a host name. Rejects like `dns.promises.lookup`, with a `code` such as
 * `ENOTFOUND`.
 */
export type Resolver = (hostname: string) => Promise<readonly { address: string }[]>;

/**
 * Opens one socket to `hostname`, which is always an IP address here. undici's `buildConnector()` creates such
 * a function.
 */
export type Connect = buildConnector.connector;

/**
 * The host is, or resolves to, an address that deliveries may not be sent to. The message contains no
 * address.
 */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
  /** The address that is not allowed, if a name resolves to it. Only operators may see it. */
  readonly address: string | undefined;
  constructor(message: string, address?: string) {
    super(message);
    this.address = address;
  }
}

/** The name has no address, or none of its addresses answered before the timeout. */
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
  /** The default is the system's resolver, which returns all addresses in its order. */
  resolver?: Resolver;
  connect?: Connect;
  /** The time limit for resolving and connecting together. Default: 10,000 ms. */
  timeoutMs?: number;
}

/**
 * Only the first addresses are tried, because a name with a hundred dead addresses must not delay other
 * deliveries.
 */
const MAX_ADDRESSES_TRIED = 4;

/** Error codes after which another address of the same name is tried. */
export const TRY_NEXT = new Set(
  `ECONNREFUSED EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL EAFNOSUPPORT ETIMEDOUT UND_ERR_CONNECT_TIMEOUT`.split(
    /\s/,
  ),
);

/**
 * Creates a connector. Its callback gets `AddressRefused`, `ConnectFailed`, or an error of `resolver` or
 * `connect`.
 */
export function createConnector(settings: ConnectorSettings): Connect {
  const { guard, resolver = systemResolver, timeoutMs = 10_000 } = settings;
  // Only HTTP/1.1 is offered: with HTTP/2, one connection would carry many deliveries, and cutting one
  // delivery off would end them all. Certificates are always checked, even if NODE_TLS_REJECT_UNAUTHORIZED is
  // 0.
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
        // RFC 6066 §3: SNI carries a name without the trailing dot, never an address.
        const servername = name?.replace(/\.$/, '');
        const destination = {
          ...target,
          hostname: address,
          ...(servername === undefined ? {} : { servername }),
        };
        return await connectTo(connect, destination, address, guard);
      } catch (error) {
        failure = error;
        if (!TRY_NEXT.has(codeOf(error))) break;
      }
    }
    throw failure ?? new ConnectFailed('ETIMEDOUT', 'no connection in time');
  }

  /**
   * Resolves and checks a host. @returns the addresses to connect to, in the resolver's order; never empty
   */
  async function checkedAddresses(
    { hostname, port, protocol }: buildConnector.Options,
    name: string | undefined,
  ): Promise<string[]> {
    const literal = readLiteral(hostname);
    const found =
      name === undefined ? [literal!.toString()] : (await resolver(name)).map((one) => one.address);
    if (found.length === 0) throw new ConnectFailed('ENOTFOUND', 'the host name has no address');
    // A forbidden address among allowed addresses is an attack or a mistake. Using the allowed addresses
    // would hide it.
    const refused = found.find((address) => !guard.allows(address));
    if (refused !== undefined) {
      throw name === undefined
        ? new AddressRefused('the address is not public')
        : new AddressRefused('the host name resolves to an address that is not public', refused);
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
    // undici aborts a request only after its connection has opened or failed. Without this timer a hanging
    // resolver would keep the delivery in progress forever.
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

/** Connects to one checked address and verifies that the socket is connected to that address. */
function connectTo(
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
  // A socket that is being closed may still emit an error. Without a listener, that would end the process.
  socket.on('error', () => {});
  socket.destroy();
}

/** Returns the `code` of a Node or undici error, or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

const systemResolver: Resolver = (hostname) => dns.lookup(hostname, { all: true, order: 'verbatim' });
