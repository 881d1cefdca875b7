/**
 * Checks one row of the table with the real address guard and the real connector, which opens connections. The name
 * resolver and the socket are simulated.
 */
import { Socket } from 'node:net';
import {
  type AddressGuard,
  createAddressGuard,
  readLiteral,
} from '../../packages/server/src/deliveries/addresses.ts';
import {
  AddressRefused,
  type Connect,
  createConnector,
  type Resolver,
} from '../../packages/server/src/deliveries/connector.ts';
import type { Row, Verdict } from './rows.ts';

export interface Finding {
  row: Row;
  verdict: Verdict;
  /** The guard's explanation of its verdict. */
  reason: string;
  /** The addresses to which a connection was opened. */
  dialled: string[];
  /** The number of times that the host name was resolved. */
  resolved: number;
  /** The differences between the result and the table. */
  faults: string[];
}

export type MakeGuard = (allowed: readonly string[]) => AddressGuard;
const realGuard: MakeGuard = (allowedNetworks) => createAddressGuard({ allowedNetworks });

export async function examine(row: Row, makeGuard: MakeGuard = realGuard): Promise<Finding> {
  const guard = makeGuard(row.allowed ?? []);
  const checked = guard.checkUrl(row.url);
  // The connector is tried even if the guard refuses the URL at its creation, because a stored URL may be older than
  // the guard's rules. Then only the connector protects. An invalid URL cannot be tried.
  const url = checked.ok ? checked.url : URL.parse(row.url);
  const connected = url === null ? undefined : await tryConnect(guard, row, url);
  const verdict: Verdict = checked.ok ? connected!.verdict : 'creation';
  const reason = checked.ok ? connected!.reason : checked.reason;
  const dialled = connected?.dialled ?? [];
  const resolved = connected?.resolved ?? 0;
  const faults = [
    ...(verdict === row.verdict ? [] : [`ended at ${verdict}, not at ${row.verdict}`]),
    ...dialled.filter((address) => !isFine(address, row)).map((address) => `${address} was dialled`),
    ...(resolved > 1 ? [`the name was resolved ${resolved} times`] : []),
  ];
  return { row, verdict, reason, dialled: checked.ok ? dialled : [], resolved, faults };
}

/** Returns true if a packet may go to the address. This function does not use the guard. */
function isFine(address: string, row: Row): boolean {
  return row.verdict === 'reached' || ['8.8.8.8', '1.1.1.1'].includes(address);
}

interface Connected {
  verdict: Verdict;
  reason: string;
  dialled: string[];
  resolved: number;
}

async function tryConnect(guard: AddressGuard, row: Row, url: URL): Promise<Connected> {
  const dialled: string[] = [];
  let resolved = 0;
  const resolver: Resolver = async () => {
    const answers = row.answers ?? [[]];
    return answers[Math.min(resolved++, answers.length - 1)]!.map((address) => ({ address }));
  };
  const connect: Connect = ({ hostname }, callback) => {
    dialled.push(hostname);
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: row.remote ?? hostname });
    callback(null, socket);
  };
  const connector = createConnector({ guard, resolver, connect });
  const { hostname, port, protocol, host } = url;
  const ended = (verdict: Verdict, reason: string) => ({ verdict, reason, dialled, resolved });
  try {
    const socket = await new Promise<Socket>((resolve, reject) => {
      connector({ hostname, port, protocol, host, servername: hostname }, (...[error, opened]) =>
        error === null ? resolve(opened) : reject(error),
      );
    });
    socket.destroy();
    return ended('reached', 'allowed');
  } catch (error) {
    if (!(error instanceof AddressRefused)) return ended('nowhere', (error as Error).message);
    return ended(dialled.length > 0 ? 'cut' : 'connect', error.message);
  }
}

/** Returns true if the host of the row's URL is an IP address in any notation. */
export function isLiteral(row: Row): boolean {
  const url = URL.parse(row.url);
  return url !== null && readLiteral(url.hostname) !== undefined;
}
