/** The connector's smaller promises: which failures go on to the next address, ports by scheme, and what comes late. */
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createAddressGuard } from './addresses.ts';
import { type Connect, codeOf, createConnector, type Resolver } from './connector.ts';

const open = createAddressGuard({ allowedNetworks: [] });
const loopback = createAddressGuard({ allowedNetworks: ['127.0.0.0/8', '::1/128'] });
const [FIRST, SECOND] = ['8.8.8.8', '1.1.1.1'];
const both: Resolver = async () => [{ address: FIRST }, { address: SECOND }];

type Options = Parameters<Connect>[0];
const options = (hostname: string, port = '', protocol = 'https:'): Options => {
  return { hostname, port, protocol, host: hostname, servername: hostname };
};

function socketAt(remoteAddress: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

/** Opens nothing; every address answers but the first, where a code is given. */
function fakeConnect(code?: string) {
  const dialled: Options[] = [];
  const connect: Connect = (asked, callback) => {
    dialled.push(asked);
    if (code !== undefined && asked.hostname === FIRST)
      callback(Object.assign(new Error(code), { code }), null);
    else callback(null, socketAt(asked.hostname));
  };
  return { connect, dialled };
}

function run(connect: Connect, asked: Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(asked, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

describe('the next address is dialled', () => {
  it.each([
    ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ETIMEDOUT'],
    'UND_ERR_CONNECT_TIMEOUT',
  ])('after %s', async (code) => {
    const { connect, dialled } = fakeConnect(code);
    await run(createConnector({ guard: open, resolver: both, connect }), options('hook.test'));
    expect(dialled.map(({ hostname }) => hostname)).toEqual([FIRST, SECOND]);
  });

  it.each(['ECONNRESET', 'EPIPE', 'DEPTH_ZERO_SELF_SIGNED_CERT', ''])('not after %j', async (code) => {
    const { connect, dialled } = fakeConnect(code);
    const connector = createConnector({ guard: open, resolver: both, connect });
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({ code });
    expect(dialled).toHaveLength(1);
  });
});

describe('a refusal', () => {
  it.each([
    ['10.0.0.1', 'the address is not public'],
    ['hook.test', 'the host name resolves to an address that is not public'],
  ])('of %s says so: %s', async (host, message) => {
    const resolver: Resolver = async () => [{ address: '10.0.0.1' }];
    const { connect } = fakeConnect();
    const refused = run(createConnector({ guard: open, resolver, connect }), options(host));
    await expect(refused).rejects.toMatchObject({ name: 'AddressRefused', code: 'ADDRESS_REFUSED', message });
  });

  it('is no failure, and a failure no refusal', async () => {
    const connect: Connect = (_, callback) => callback(null, socketAt(undefined));
    const failed = run(createConnector({ guard: open, resolver: both, connect }), options('hook.test'));
    await expect(failed).rejects.toMatchObject({ name: 'ConnectFailed', code: 'ECONNRESET' });
  });
});

describe('the port that is asked about', () => {
  it.each([
    ['', 'https:', 443],
    ['', 'http:', 80],
    ['8443', 'https:', 8443],
    ['8080', 'http:', 8080],
  ])('at %j over %s is %d', async (port, protocol, number) => {
    const asked: number[] = [];
    const guard = { ...open, allowsPort: (_: string, one: number) => asked.push(one) > 0 };
    const { connect } = fakeConnect();
    await run(createConnector({ guard, resolver: both, connect }), options('hook.test', port, protocol));
    expect(new Set(asked)).toEqual(new Set([number]));
  });
});

it('dials an address under no name at all', async () => {
  const { connect, dialled } = fakeConnect();
  await run(createConnector({ guard: open, resolver: both, connect }), options(SECOND));
  const { servername: _, ...target } = options(SECOND);
  expect(dialled).toStrictEqual([target]);
});

it('asks the system for the addresses of a name where no resolver is given', async () => {
  const { connect, dialled } = fakeConnect();
  await run(createConnector({ guard: loopback, connect }), options('localhost', '8080', 'http:'));
  expect(['127.0.0.1', '::1']).toContain(dialled[0]?.hostname);
});

it('offers HTTP/1.1 alone, under the name', async () => {
  const hello = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      hello.resolve(bytes.toString('latin1'));
      socket.destroy();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const connector = createConnector({ guard: loopback, resolver: async () => [{ address: '127.0.0.1' }] });
  await expect(run(connector, options('sink.test', String(port)))).rejects.toThrow();
  expect(await hello.promise).toContain('\u0008http/1.1');
  expect(await hello.promise).not.toContain('\u0002h2');
  server.close();
});

describe('what comes late', () => {
  /** A connection that is given up, and the callback that it never called. */
  async function giveUp() {
    const callbacks: Parameters<Connect>[1][] = [];
    const connect: Connect = (_, callback) => void callbacks.push(callback);
    const connector = createConnector({ guard: open, resolver: both, connect, timeoutMs: 1 });
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({
      ...{ name: 'ConnectFailed', code: 'ETIMEDOUT' },
    });
    return callbacks[0]!;
  }

  it('and is a failure harms nobody', async () => {
    const harm: unknown[] = [];
    const note = (reason: unknown) => void harm.push(reason);
    process.on('unhandledRejection', note);
    const callback = await giveUp();
    callback(Object.assign(new Error('late'), { code: 'EPIPE' }), null);
    await setImmediate();
    await setImmediate();
    process.off('unhandledRejection', note);
    expect(harm).toEqual([]);
  });

  it('and is a socket is destroyed, and may still fail', async () => {
    const callback = await giveUp();
    const socket = socketAt(FIRST);
    const closed = once(socket, 'close');
    callback(null, socket);
    await closed;
    expect(() => socket.emit('error', new Error('late'))).not.toThrow();
  });

  it('is waited for by no clock once there is a connection', async () => {
    const { connect } = fakeConnect();
    const connector = createConnector({ guard: open, resolver: both, connect, timeoutMs: 3_600_000 });
    const clocks = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = clocks();
    for (let n = 0; n < 100; n++) await run(connector, options('hook.test'));
    expect(clocks() - before).toBeLessThan(50);
  });
});

it('reads the code of an error where it is text', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: 'EPIPE' }))).toBe('EPIPE');
  for (const other of [new Error('x'), { code: 7 }, { code: null }, null, undefined, 'EPIPE'])
    expect(codeOf(other)).toBe('');
});
