import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createAddressGuard } from './addresses.ts';
import { AddressRefused, type Connect, ConnectFailed, createConnector, type Resolver } from './connector.ts';

// These tests contact no other machine: the resolver and the connect function are simulated, and the few real
// sockets use the loopback.

const PUBLIC = '8.8.8.8';
const PUBLIC6 = '2606:4700::1111';
const open = createAddressGuard({ allowedNetworks: [] });
const loopback = createAddressGuard({ allowedNetworks: ['127.0.0.0/8', '::1/128'] });

type Options = Parameters<Connect>[0];
const options = (hostname: string, port = '', protocol = 'https:'): Options => {
  return { hostname, port, protocol, host: hostname, servername: hostname };
};

/**
 * A connect function that opens no socket and records the requested addresses. `remote` returns the address
 * that the socket reports.
 */
function fakeConnect(remote: (address: string) => string | undefined = (address) => address) {
  const targets: Options[] = [];
  const sockets: Socket[] = [];
  const connect: Connect = (request, callback) => {
    targets.push(request);
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remote(request.hostname) });
    sockets.push(socket);
    callback(null, socket);
  };
  return { connect, targets, sockets };
}

/**
 * A resolver that answers each query with the next list of addresses, and all further queries with the last
 * list. It records the queries.
 */
function fakeResolver(...answers: string[][]) {
  const queries: string[] = [];
  const resolver: Resolver = async (hostname) => {
    queries.push(hostname);
    return answers[Math.min(queries.length, answers.length) - 1]!.map((address) => ({ address }));
  };
  return { resolver, queries };
}

function run(connect: Connect, request: Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(request, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

const never: Connect = () => {
  throw new Error('must not connect');
};
const noDns: Resolver = () => {
  throw new Error('must not resolve');
};

/** Hosts and DNS answers that the connector must refuse before it connects. */
const REFUSED: [host: string, answer: string[] | 'literal'][] = [
  ['127.0.0.1', 'literal'],
  ['::1', 'literal'],
  ['[::1]', 'literal'],
  ['::ffff:127.0.0.1', 'literal'],
  ['::ffff:7f00:1', 'literal'],
  ['64:ff9b::7f00:1', 'literal'],
  ['2002:7f00:1::', 'literal'],
  ['2130706433', 'literal'],
  ['0x7f.1', 'literal'],
  ['0177.0.0.1', 'literal'],
  ['127.1', 'literal'],
  ['127.0.0.1.', 'literal'],
  ['169.254.169.254', 'literal'],
  ['0.0.0.0', 'literal'],
  ['fe80::1%eth0', 'literal'],
  ['hook.test', ['127.0.0.1']],
  ['hook.test', ['10.0.0.1']],
  ['hook.test', ['::1']],
  ['hook.test', ['::ffff:10.0.0.1']],
  ['hook.test', ['fe80::1%eth0']],
  ['hook.test', ['0x7f.1']],
  ['hook.test', ['localhost']],
  ['hook.test', ['']],
  ['hook.test', [PUBLIC, '127.0.0.1']],
  ['hook.test', ['10.0.0.1', PUBLIC]],
  ['hook.test', [PUBLIC, PUBLIC6, '::ffff:169.254.169.254']],
  ['hook.test', [PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, '192.168.0.1']],
];

/** Returns the rows of REFUSED for which the connector connected or failed with another error. */
async function lets(make: (resolver: Resolver, connect: Connect) => Connect): Promise<string[]> {
  const wrong: string[] = [];
  for (const [host, answer] of REFUSED) {
    const { connect, targets } = fakeConnect();
    const resolver = answer === 'literal' ? noDns : fakeResolver(answer).resolver;
    const error = await run(make(resolver, connect), options(host)).catch((reason) => reason);
    if (!(error instanceof AddressRefused) || targets.length > 0) wrong.push(`${host} ${answer}`);
  }
  return wrong;
}

describe('the connector’s refusals', () => {
  test('happen before any connection, for every forbidden address and DNS answer in the table', async () => {
    const wrong = await lets((resolver, connect) => createConnector({ guard: open, resolver, connect }));
    expect(wrong).toEqual([]);
  });

  test('are tested with a table in which a connector fails if it checks only names or only the first DNS answer', async () => {
    const dial = (connect: Connect, address: string, callback: Parameters<Connect>[1]) =>
      connect(options(address), callback);
    const namesOnly = await lets((resolver, connect) => (request, callback) => {
      if (/^[\d.:a-fx[\]%]+$/.test(request.hostname)) return dial(connect, request.hostname, callback);
      createConnector({ guard: open, resolver, connect })(request, callback);
    });
    expect(namesOnly).toContain('2130706433 literal');
    const firstOnly = await lets((resolver, connect) => (request, callback) => {
      const one: Resolver = async (name) => (await resolver(name)).slice(0, 1);
      createConnector({ guard: open, resolver: one, connect })(request, callback);
    });
    expect(firstOnly).toEqual([
      `hook.test ${PUBLIC},127.0.0.1`,
      `hook.test ${PUBLIC},${PUBLIC6},::ffff:169.254.169.254`,
      `hook.test ${PUBLIC},${PUBLIC},${PUBLIC},${PUBLIC},${PUBLIC},192.168.0.1`,
    ]);
  });

  test('have a message that contains neither host nor address, because customers see it', async () => {
    const { resolver } = fakeResolver(['10.11.12.13']);
    const connector = createConnector({ guard: open, resolver, connect: never });
    const error = await run(connector, options('canary.test')).catch((reason) => reason);
    expect(String(error)).not.toMatch(/canary|10\.11/);
  });

  test('apply to an unusual port unless all addresses of the name are in an allowed network', async () => {
    const guard = createAddressGuard({ allowedNetworks: ['10.0.0.0/8'] });
    const rows: [string[], boolean][] = [
      [['10.0.0.1'], true],
      [[PUBLIC], false],
      [['10.0.0.1', PUBLIC], false],
    ];
    for (const [answer, allowed] of rows) {
      const { connect, targets } = fakeConnect();
      const connector = createConnector({ guard, resolver: fakeResolver(answer).resolver, connect });
      const got = await run(connector, options('crm.test', '81', 'http:')).catch((reason) => reason);
      expect([answer, got instanceof Socket, targets.length]).toEqual([answer, allowed, allowed ? 1 : 0]);
      if (!allowed) expect(got).toBeInstanceOf(AddressRefused);
    }
  });

  test('do not apply when the name has no address or the resolver fails: the connection fails with its error code', async () => {
    const none = createConnector({ guard: open, resolver: fakeResolver([]).resolver, connect: never });
    await expect(run(none, options('hook.test'))).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const broken = createConnector({
      guard: open,
      resolver: () => Promise.reject(Object.assign(new Error('x'), { code: 'EAI_AGAIN' })),
      connect: never,
    });
    await expect(run(broken, options('hook.test'))).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });
});

describe('the connector’s address pinning', () => {
  test('connects to the checked address, uses the name for TLS, and resolves once', async () => {
    const { connect, targets } = fakeConnect();
    const { resolver, queries } = fakeResolver([PUBLIC6, PUBLIC], ['127.0.0.1']);
    await run(createConnector({ guard: open, resolver, connect }), options('hook.test'));
    expect(targets).toEqual([{ ...options('hook.test'), hostname: PUBLIC6 }]);
    expect(queries).toEqual(['hook.test']);
  });

  test('makes DNS rebinding ineffective, but a connector that connects to the name reaches the second address', async () => {
    /**
     * Returns the addresses that a simulated connect function reaches. If the connector passes it a name,
     * this function resolves the name again and gets the second answer.
     */
    async function connectedAddress(make: (resolver: Resolver, connect: Connect) => Connect) {
      const { resolver } = fakeResolver([PUBLIC], ['127.0.0.1']);
      const reached: string[] = [];
      const connect: Connect = async (request, callback) => {
        const address = /[^\d.]/.test(request.hostname)
          ? (await resolver(request.hostname))[0]!.address
          : request.hostname;
        reached.push(address);
        fakeConnect().connect({ ...request, hostname: address }, callback);
      };
      await run(make(resolver, connect), options('hook.test'));
      return reached;
    }
    const ours = await connectedAddress((resolver, connect) =>
      createConnector({ guard: open, resolver, connect }),
    );
    expect(ours).toEqual([PUBLIC]);
    const naive = await connectedAddress((resolver, connect) => async (request, callback) => {
      const found = await resolver(request.hostname);
      if (found.every((one) => open.allows(one.address))) connect(request, callback);
    });
    expect(naive).toEqual(['127.0.0.1']);
  });

  test('checks the address for every new connection', async () => {
    const { connect, targets } = fakeConnect();
    const connector = createConnector({
      guard: open,
      resolver: fakeResolver([PUBLIC], ['10.0.0.1']).resolver,
      connect,
    });
    await run(connector, options('hook.test'));
    await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(AddressRefused);
    expect(targets).toHaveLength(1);
  });

  test('sends SNI without a trailing dot, and no SNI for a literal address', async () => {
    for (const [host, name] of [
      ['hook.test.', 'hook.test'],
      [PUBLIC, undefined],
      [`[${PUBLIC6}]`, undefined],
    ] as const) {
      const { connect, targets } = fakeConnect();
      await run(
        createConnector({ guard: open, resolver: fakeResolver([PUBLIC]).resolver, connect }),
        options(host),
      );
      expect([host, targets[0]?.servername]).toEqual([host, name]);
    }
  });

  test('destroys and refuses a socket that is connected to another address, even a public one', async () => {
    for (const remote of ['127.0.0.1', '::ffff:10.0.0.1', '1.1.1.1', PUBLIC6]) {
      const { connect, sockets } = fakeConnect(() => remote);
      const connector = createConnector({ guard: open, resolver: fakeResolver([PUBLIC]).resolver, connect });
      await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(AddressRefused);
      expect(sockets.map((socket) => socket.destroyed)).toEqual([true]);
    }
    const mapped = fakeConnect(() => `::ffff:${PUBLIC}`);
    const connector = createConnector({
      guard: open,
      resolver: fakeResolver([PUBLIC]).resolver,
      connect: mapped.connect,
    });
    const socket = await run(connector, options('hook.test'));
    expect(socket).toBe(mapped.sockets[0]);
  });

  test('reports a failed connection when the socket has already closed', async () => {
    const { connect } = fakeConnect(() => undefined);
    const connector = createConnector({ guard: open, resolver: fakeResolver([PUBLIC]).resolver, connect });
    await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(ConnectFailed);
  });
});

describe('several addresses of a name', () => {
  const six = [PUBLIC6, PUBLIC, '1.1.1.1', '1.0.0.1', '9.9.9.9', '9.9.9.10'];
  /**
   * A connect function that succeeds for the address `good` and fails with `code` for all other addresses.
   */
  function only(good: string, code: string) {
    const targets: string[] = [];
    const connect: Connect = (request, callback) => {
      targets.push(request.hostname);
      if (request.hostname === good) return fakeConnect().connect(request, callback);
      callback(Object.assign(new Error(code), { code }), null);
    };
    return {
      targets,
      connector: createConnector({ guard: open, resolver: fakeResolver(six).resolver, connect }),
    };
  }

  test('are tried in order when one is unreachable, at most four of them', async () => {
    const second = only(PUBLIC, 'ENETUNREACH');
    await run(second.connector, options('hook.test'));
    expect(second.targets).toEqual([PUBLIC6, PUBLIC]);
    const last = only('9.9.9.10', 'ECONNREFUSED');
    await expect(run(last.connector, options('hook.test'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(last.targets).toEqual(six.slice(0, 4));
  });

  test('are not tried after a certificate error', async () => {
    const { connector, targets } = only(PUBLIC, 'ERR_TLS_CERT_ALTNAME_INVALID');
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(targets).toEqual([PUBLIC6]);
  });
});

describe('the connector’s timeout', () => {
  test('fails the connection when the resolver hangs, and ignores its late answer', async () => {
    const late = Promise.withResolvers<{ address: string }[]>();
    const { connect, targets } = fakeConnect();
    const connector = createConnector({ guard: open, resolver: () => late.promise, connect, timeoutMs: 1 });
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    late.resolve([{ address: PUBLIC }]);
    await setImmediate();
    expect(targets).toEqual([]);
  });

  test('destroys a socket that connects too late', async () => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: PUBLIC });
    const callbacks: Parameters<Connect>[1][] = [];
    const connect: Connect = (_, callback) => void callbacks.push(callback);
    const connector = createConnector({
      guard: open,
      resolver: fakeResolver([PUBLIC]).resolver,
      connect,
      timeoutMs: 1,
    });
    await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(ConnectFailed);
    const closed = once(socket, 'close');
    callbacks[0]!(null, socket);
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});

describe('the connector with real sockets on the loopback', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** Starts a server that keeps the first bytes that it receives. */
  async function listen(host: string): Promise<{ port: string; firstBytes: Promise<Buffer> }> {
    const first = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        first.resolve(bytes);
        socket.destroy();
      });
    });
    servers.push(server);
    await once(server.listen(0, host), 'listening');
    return { port: String((server.address() as { port: number }).port), firstBytes: first.promise };
  }

  test('connects over IPv4 and IPv6 when the loopback is allowed, both by name and by literal address', async () => {
    for (const address of ['127.0.0.1', '::1']) {
      const { port } = await listen(address);
      for (const host of ['sink.test', address]) {
        const connector = createConnector({ guard: loopback, resolver: fakeResolver([address]).resolver });
        const socket = await run(connector, options(host, port, 'http:'));
        expect(socket.remoteAddress).toBe(address);
        socket.destroy();
      }
    }
  });

  test('sends the name in the TLS hello, not the address', async () => {
    const { port, firstBytes } = await listen('127.0.0.1');
    const connector = createConnector({ guard: loopback, resolver: fakeResolver(['127.0.0.1']).resolver });
    await expect(run(connector, options('sink.test', port))).rejects.toThrow();
    const hello = (await firstBytes).toString('latin1');
    expect(hello).toContain('sink.test');
    expect(hello).not.toContain('127.0.0.1');
  });

  test('sends nothing when the loopback is not allowed', async () => {
    const { port } = await listen('127.0.0.1');
    let arrived = 0;
    servers[0]!.on('connection', () => {
      arrived += 1;
    });
    for (const host of ['127.0.0.1', '0x7f.1', '2130706433', 'sink.test']) {
      const connector = createConnector({ guard: open, resolver: fakeResolver(['127.0.0.1']).resolver });
      await expect(run(connector, options(host, port, 'http:'))).rejects.toBeInstanceOf(AddressRefused);
    }
    // This allowed connection starts last. A forbidden connection would have reached the server before it.
    const accepted = once(servers[0]!, 'connection');
    const connector = createConnector({ guard: loopback, resolver: noDns });
    const socket = await run(connector, options('127.0.0.1', port, 'http:'));
    await accepted;
    expect(arrived).toBe(1);
    socket.destroy();
  });
});
