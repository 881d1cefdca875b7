/**
 * Tests of the connector: errors after which it tries the next address, the ports that it checks, and sockets
 * that connect after the timeout.
 */
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

/** A connect function that opens no socket. With `code`, the first address fails. */
function fakeConnect(code?: string) {
  const targets: Options[] = [];
  const connect: Connect = (options, callback) => {
    targets.push(options);
    if (code !== undefined && options.hostname === FIRST)
      callback(Object.assign(new Error(code), { code }), null);
    else callback(null, socketAt(options.hostname));
  };
  return { connect, targets };
}

function run(connect: Connect, options: Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

describe('the connector tries the next address of a name', () => {
  it.each([
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EADDRNOTAVAIL',
    'EAFNOSUPPORT',
    'ETIMEDOUT',
    'UND_ERR_CONNECT_TIMEOUT',
  ])('after the error %s', async (code) => {
    const { connect, targets } = fakeConnect(code);
    await run(createConnector({ guard: open, resolver: both, connect }), options('hook.test'));
    expect(targets.map(({ hostname }) => hostname)).toEqual([FIRST, SECOND]);
  });

  it.each(['ECONNRESET', 'EPIPE', 'DEPTH_ZERO_SELF_SIGNED_CERT', ''])(
    'but not after the error %j',
    async (code) => {
      const { connect, targets } = fakeConnect(code);
      const connector = createConnector({ guard: open, resolver: both, connect });
      await expect(run(connector, options('hook.test'))).rejects.toMatchObject({ code });
      expect(targets).toHaveLength(1);
    },
  );
});

describe('an AddressRefused error', () => {
  it.each([
    ['10.0.0.1', 'the address is not public'],
    ['hook.test', 'the host name resolves to an address that is not public'],
  ])('has a message that tells why %s is refused: %s', async (host, message) => {
    const resolver: Resolver = async () => [{ address: '10.0.0.1' }];
    const { connect } = fakeConnect();
    const refused = run(createConnector({ guard: open, resolver, connect }), options(host));
    await expect(refused).rejects.toMatchObject({ name: 'AddressRefused', code: 'ADDRESS_REFUSED', message });
  });

  it('is not thrown when connecting fails: the error is then ConnectFailed', async () => {
    const connect: Connect = (_, callback) => callback(null, socketAt(undefined));
    const failed = run(createConnector({ guard: open, resolver: both, connect }), options('hook.test'));
    await expect(failed).rejects.toMatchObject({ name: 'ConnectFailed', code: 'ECONNRESET' });
  });
});

describe('the port that the connector checks', () => {
  it.each([
    [443, '', 'https:'],
    [80, '', 'http:'],
    [8443, '8443', 'https:'],
    [8080, '8080', 'http:'],
  ])('is %d when the URL has the port %j and the scheme %s', async (number, port, protocol) => {
    const ports: number[] = [];
    const guard = { ...open, allowsPort: (_: string, one: number) => ports.push(one) > 0 };
    const { connect } = fakeConnect();
    await run(createConnector({ guard, resolver: both, connect }), options('hook.test', port, protocol));
    expect(new Set(ports)).toEqual(new Set([number]));
  });
});

it('the connector sends no server name when the host is a literal address', async () => {
  const { connect, targets } = fakeConnect();
  await run(createConnector({ guard: open, resolver: both, connect }), options(SECOND));
  const { servername: _, ...target } = options(SECOND);
  expect(targets).toStrictEqual([target]);
});

it('the connector uses the system’s resolver by default', async () => {
  const { connect, targets } = fakeConnect();
  await run(createConnector({ guard: loopback, connect }), options('localhost', '8080', 'http:'));
  expect(['127.0.0.1', '::1']).toContain(targets[0]?.hostname);
});

it('the connector offers only HTTP/1.1 and sends the server name in the TLS hello', async () => {
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

describe('the timeout of the connector', () => {
  /** Lets a connection time out. Returns the function that `connect` was given and has not called, for a late call. */
  async function giveUp() {
    const callbacks: Parameters<Connect>[1][] = [];
    const connect: Connect = (_, callback) => void callbacks.push(callback);
    const connector = createConnector({ guard: open, resolver: both, connect, timeoutMs: 1 });
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({
      name: 'ConnectFailed',
      code: 'ETIMEDOUT',
    });
    return callbacks[0]!;
  }

  it('is the only reported error, even when connecting fails later', async () => {
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

  it('destroys a socket that connects later, and ignores its errors', async () => {
    const callback = await giveUp();
    const socket = socketAt(FIRST);
    const closed = once(socket, 'close');
    callback(null, socket);
    await closed;
    expect(() => socket.emit('error', new Error('late'))).not.toThrow();
  });

  it('leaves no timer running after a connection was made in time', async () => {
    const { connect } = fakeConnect();
    const connector = createConnector({ guard: open, resolver: both, connect, timeoutMs: 3_600_000 });
    const clocks = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = clocks();
    for (let n = 0; n < 100; n++) await run(connector, options('hook.test'));
    expect(clocks() - before).toBeLessThan(50);
  });
});

it('codeOf returns the property code of an error if this code is a string', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: 'EPIPE' }))).toBe('EPIPE');
  for (const other of [new Error('x'), { code: 7 }, { code: null }, null, undefined, 'EPIPE'])
    expect(codeOf(other)).toBe('');
});
