/**
 * The address of the client, also behind reverse proxies. Proxies write it into `X-Forwarded-For`, some with a port
 * (Azure Application Gateway), in the form of an RFC 7239 node: `192.0.2.43:47011`, `[2001:db8::17]:4711`, `unknown`.
 */
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Log } from '../base/log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client without a port. The limits count by it. `ip` may have a port or be no address. */
    readonly clientAddress: string;
  }
}

/** Returns the address of a node without brackets and port; undefined if the node has no address. */
export function readNode(node: string): string | undefined {
  const bare = node.replaceAll('"', '');
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::.*)?|([^:]*):[^:]*)$/.exec(bare) ?? [];
  const address = inBrackets ?? beforePort ?? bare;
  // Both, because each takes addresses that the other refuses, such as `fe80::%1.2`.
  return isIP(address) === 0 || !ipaddr.isValid(address) ? undefined : address;
}

/** Returns a function that tells whether a node belongs to one of the networks. A node without an address does not. */
export function createProxyTrust(networks: readonly string[]): (node: string) => boolean {
  const ranges = networks.map((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return [asIpv6(base), base.kind() === 'ipv4' ? bits + 96 : bits] as const;
  });
  return (node) => {
    const address = readNode(node);
    if (address === undefined) return false;
    const ip = asIpv6(ipaddr.parse(address));
    return ranges.some(([base, bits]) => ip.match(base, bits));
  };
}

/** Returns an IPv4 address in its IPv4-mapped form, as sockets that accept both families name it. */
function asIpv6(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv6 {
  return ip instanceof ipaddr.IPv4 ? ip.toIPv4MappedAddress() : ip;
}

/**
 * Adds `clientAddress` to all requests. If the last trusted proxy forwards no address, its own address counts, so that
 * unreadable values share one limit instead of having one each.
 * @param log gets one warning about such a proxy, without the value, which may be about a customer
 */
export function readClientAddresses(app: FastifyInstance, log: Log): void {
  const nodesOf = (request: FastifyRequest) => (request.ips ?? [request.ip]).map((node) => node ?? '');
  app.decorateRequest('clientAddress', {
    getter() {
      return (
        nodesOf(this)
          .map(readNode)
          .findLast((address) => address !== undefined) ?? ''
      );
    },
  });
  let warned = false;
  app.addHook('onRequest', async (request) => {
    const { length, [length - 1]: last = '' } = nodesOf(request);
    if (warned || length < 2 || readNode(last) !== undefined) return;
    warned = true;
    log.warn(
      'the trusted proxy sends an X-Forwarded-For without an address, so its clients share one sign-in limit; let the proxy send the address of the client',
    );
  });
}
