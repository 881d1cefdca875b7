import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createAddressGuard } from './addresses.ts';
import { AddressRefused, type Connect, ConnectFailed, createConnector, type Resolver } from './connector.ts';

// Nothing here leaves the machine: the resolver and the low-level connect are always injected, and the few real
// sockets go to loopback.

const PUBLIC = '8.8.8.8';
const PUBLIC6 = '2606:4700::1111';
const open = createAddressGuard({ allowedNetworks: [] });
const loopback = createAddressGuard({ allowedNetworks: ['127.0.0.0/8', '::1/128'] });

type Options = Parameters<Connect>[0];
const options = (hostname: string, port = '', protocol = 'https:'): Options => {
  return { hostname, port, protocol, host: hostname, servername: hostname };
};

/** A connect that opens nothing and records whom it was asked for; `remote` is where the socket says it is. */
function fakeConnect(remote: (address: string) => string | undefined = (address) => address) {
  const dialled: Options[] = [];
  const sockets: Socket[] = [];
  const connect: Connect = (asked, callback) => {
    dialled.push(asked);
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remote(asked.hostname) });
    sockets.push(socket);
    callback(null, socket);
  };
  return { connect, dialled, sockets };
}

/** Answers each question with the next list; the last one again and again. Records the questions. */
function fakeResolver(...answers: string[][]) {
  const asked: string[] = [];
  const resolver: Resolver = async (hostname) => {
    asked.push(hostname);
    return answers[Math.min(asked.length, answers.length) - 1]!.map((address) => ({ address }));
  };
  return { resolver, asked };
}

function run(connect: Connect, asked: Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(asked, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

const never: Connect = () => {
  throw new Error('must not be dialled');
};
const noDns: Resolver = () => {
  throw new Error('must not be resolved');
};

/** Hosts and DNS answers that must end in a refusal before anything is dialled. */
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

/** The rows of REFUSED where something was dialled, or another error came: the checker. */
async function lets(make: (resolver: Resolver, connect: Connect) => Connect): Promise<string[]> {
  const wrong: string[] = [];
  for (const [host, answer] of REFUSED) {
    const { connect, dialled } = fakeConnect();
    const resolver = answer === 'literal' ? noDns : fakeResolver(answer).resolver;
    const error = await run(make(resolver, connect), options(host)).catch((reason) => reason);
    if (!(error instanceof AddressRefused) || dialled.length > 0) wrong.push(`${host} ${answer}`);
  }
  return wrong;
}

describe('refusals', () => {
  test('every literal and every answer of the table is refused before anything is dialled', async () => {
    const wrong = await lets((resolver, connect) => createConnector({ guard: open, resolver, connect }));
    expect(wrong).toEqual([]);
  });

  test('the table catches a connector that checks names only, and one that checks the first answer only', async () => {
    const dial = (connect: Connect, address: string, callback: Parameters<Connect>[1]) =>
      connect(options(address), callback);
    const namesOnly = await lets((resolver, connect) => (asked, callback) => {
      if (/^[\d.:a-fx[\]%]+$/.test(asked.hostname)) return dial(connect, asked.hostname, callback);
      createConnector({ guard: open, resolver, connect })(asked, callback);
    });
    expect(namesOnly).toContain('2130706433 literal');
    const firstOnly = await lets((resolver, connect) => (asked, callback) => {
      const one: Resolver = async (name) => (await resolver(name)).slice(0, 1);
      createConnector({ guard: open, resolver: one, connect })(asked, callback);
    });
    expect(firstOnly).toEqual([
      `hook.test ${PUBLIC},127.0.0.1`,
      `hook.test ${PUBLIC},${PUBLIC6},::ffff:169.254.169.254`,
      `hook.test ${PUBLIC},${PUBLIC},${PUBLIC},${PUBLIC},${PUBLIC},192.168.0.1`,
    ]);
  });

  test('the message names neither host nor address: it may be shown to the customer', async () => {
    const { resolver } = fakeResolver(['10.11.12.13']);
    const connector = createConnector({ guard: open, resolver, connect: never });
    const error = await run(connector, options('canary.test')).catch((reason) => reason);
    expect(String(error)).not.toMatch(/canary|10\.11/);
  });

  test('a port that is not open needs every address in an allowed network', async () => {
    const guard = createAddressGuard({ allowedNetworks: ['10.0.0.0/8'] });
    const rows: [string[], boolean][] = [
      [['10.0.0.1'], true],
      [[PUBLIC], false],
      [['10.0.0.1', PUBLIC], false],
    ];
    for (const [answer, allowed] of rows) {
      const { connect, dialled } = fakeConnect();
      const connector = createConnector({ guard, resolver: fakeResolver(answer).resolver, connect });
      const got = await run(connector, options('crm.test', '81', 'http:')).catch((reason) => reason);
      expect([answer, got instanceof Socket, dialled.length]).toEqual([answer, allowed, allowed ? 1 : 0]);
      if (!allowed) expect(got).toBeInstanceOf(AddressRefused);
    }
  });

  test('no address, and a resolver that fails, are failures, not refusals', async () => {
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

describe('pinning', () => {
  test('the checked address is dialled, with the name for TLS, and DNS is asked once', async () => {
    const { connect, dialled } = fakeConnect();
    const { resolver, asked } = fakeResolver([PUBLIC6, PUBLIC], ['127.0.0.1']);
    await run(createConnector({ guard: open, resolver, connect }), options('hook.test'));
    expect(dialled).toEqual([{ ...options('hook.test'), hostname: PUBLIC6 }]);
    expect(asked).toEqual(['hook.test']);
  });

  test('rebinding between check and connect goes nowhere, and the same test catches a connector that dials the name', async () => {
    /** Stands for a connect that resolves what it is given: a name gets the second answer. */
    async function dialledAddress(make: (resolver: Resolver, connect: Connect) => Connect) {
      const { resolver } = fakeResolver([PUBLIC], ['127.0.0.1']);
      const reached: string[] = [];
      const connect: Connect = async (asked, callback) => {
        const address = /[^\d.]/.test(asked.hostname)
          ? (await resolver(asked.hostname))[0]!.address
          : asked.hostname;
        reached.push(address);
        fakeConnect().connect({ ...asked, hostname: address }, callback);
      };
      await run(make(resolver, connect), options('hook.test'));
      return reached;
    }
    const ours = await dialledAddress((resolver, connect) =>
      createConnector({ guard: open, resolver, connect }),
    );
    expect(ours).toEqual([PUBLIC]);
    const naive = await dialledAddress((resolver, connect) => async (asked, callback) => {
      const found = await resolver(asked.hostname);
      if (found.every((one) => open.allows(one.address))) connect(asked, callback);
    });
    expect(naive).toEqual(['127.0.0.1']);
  });

  test('each new connection is checked anew', async () => {
    const { connect, dialled } = fakeConnect();
    const connector = createConnector({
      guard: open,
      resolver: fakeResolver([PUBLIC], ['10.0.0.1']).resolver,
      connect,
    });
    await run(connector, options('hook.test'));
    await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(AddressRefused);
    expect(dialled).toHaveLength(1);
  });

  test('SNI is the name without a trailing dot, and nothing for a literal', async () => {
    for (const [host, name] of [
      ['hook.test.', 'hook.test'],
      [PUBLIC, undefined],
      [`[${PUBLIC6}]`, undefined],
    ] as const) {
      const { connect, dialled } = fakeConnect();
      await run(
        createConnector({ guard: open, resolver: fakeResolver([PUBLIC]).resolver, connect }),
        options(host),
      );
      expect([host, dialled[0]?.servername]).toEqual([host, name]);
    }
  });

  test('a socket that is connected elsewhere is destroyed and refused, even when elsewhere is public', async () => {
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

  test('a socket that is gone already is a failure', async () => {
    const { connect } = fakeConnect(() => undefined);
    const connector = createConnector({ guard: open, resolver: fakeResolver([PUBLIC]).resolver, connect });
    await expect(run(connector, options('hook.test'))).rejects.toBeInstanceOf(ConnectFailed);
  });
});

describe('several addresses', () => {
  const six = [PUBLIC6, PUBLIC, '1.1.1.1', '1.0.0.1', '9.9.9.9', '9.9.9.10'];
  /** A connect where only `good` answers; the others fail with `code`. */
  function only(good: string, code: string) {
    const dialled: string[] = [];
    const connect: Connect = (asked, callback) => {
      dialled.push(asked.hostname);
      if (asked.hostname === good) return fakeConnect().connect(asked, callback);
      callback(Object.assign(new Error(code), { code }), null);
    };
    return {
      dialled,
      connector: createConnector({ guard: open, resolver: fakeResolver(six).resolver, connect }),
    };
  }

  test('the next one is tried when one cannot be reached, four at most', async () => {
    const second = only(PUBLIC, 'ENETUNREACH');
    await run(second.connector, options('hook.test'));
    expect(second.dialled).toEqual([PUBLIC6, PUBLIC]);
    const last = only('9.9.9.10', 'ECONNREFUSED');
    await expect(run(last.connector, options('hook.test'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(last.dialled).toEqual(six.slice(0, 4));
  });

  test('a bad certificate is final', async () => {
    const { connector, dialled } = only(PUBLIC, 'ERR_TLS_CERT_ALTNAME_INVALID');
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(dialled).toEqual([PUBLIC6]);
  });
});

describe('time', () => {
  test('a resolver that hangs is given up, and what it says later is not dialled', async () => {
    const late = Promise.withResolvers<{ address: string }[]>();
    const { connect, dialled } = fakeConnect();
    const connector = createConnector({ guard: open, resolver: () => late.promise, connect, timeoutMs: 1 });
    await expect(run(connector, options('hook.test'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    late.resolve([{ address: PUBLIC }]);
    await setImmediate();
    expect(dialled).toEqual([]);
  });

  test('a socket that comes too late is destroyed', async () => {
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

describe('real sockets on loopback', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** A server that keeps the first bytes it is sent. */
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

  test('IPv4 and IPv6 connect when allowed, by name and as a literal', async () => {
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

  test('the TLS hello carries the name, not the address', async () => {
    const { port, firstBytes } = await listen('127.0.0.1');
    const connector = createConnector({ guard: loopback, resolver: fakeResolver(['127.0.0.1']).resolver });
    await expect(run(connector, options('sink.test', port))).rejects.toThrow();
    const hello = (await firstBytes).toString('latin1');
    expect(hello).toContain('sink.test');
    expect(hello).not.toContain('127.0.0.1');
  });

  test('nothing arrives when loopback is not allowed', async () => {
    const { port } = await listen('127.0.0.1');
    let arrived = 0;
    servers[0]!.on('connection', () => {
      arrived += 1;
    });
    for (const host of ['127.0.0.1', '0x7f.1', '2130706433', 'sink.test']) {
      const connector = createConnector({ guard: open, resolver: fakeResolver(['127.0.0.1']).resolver });
      await expect(run(connector, options(host, port, 'http:'))).rejects.toBeInstanceOf(AddressRefused);
    }
    // A connection that is allowed comes after any forbidden one: when it is there, they would be too.
    const accepted = once(servers[0]!, 'connection');
    const connector = createConnector({ guard: loopback, resolver: noDns });
    const socket = await run(connector, options('127.0.0.1', port, 'http:'));
    await accepted;
    expect(arrived).toBe(1);
    socket.destroy();
  });
});
