/** The run of a fleet, short; its judgement with faults planted; and the way that is cut and held up. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { CHECKS } from '../crash/checks.ts';
import { KINDS } from './faults.ts';
import { runScale, type ScaleHistory } from './run.ts';
import { judge } from './scale.ts';
import { startWay } from './way.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-scale-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('loses nothing and charges nothing twice with two of each on one PostgreSQL', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const between = { least: 3, most: 10 };
  const history = await runScale({ directory, faults: 2, between, seed, say: () => {} });
  const faults = Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history).map((fault) => `${name}: ${fault}`),
  );
  expect(faults, `seed ${seed}: ${history.faults}`).toEqual([]);
  expect(history.strangers).toEqual({ started: 2, served: 0 });
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const good: ScaleHistory = {
    attempted: [],
    delivered: [],
    kills: [1],
    databaseKills: 0,
    holdMilliseconds: 0,
    deliveriesAtATime: 1,
    jobs: [],
    transfers: [],
    deliveries: [],
    balances: [],
    faults: [...KINDS],
    strangers: { started: 2, served: 0 },
  };

  it('holds where every kind of fault was met and nothing is wrong', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it('is missed where a kind of fault never came, a process with another key served, or a check found something', () => {
    expect(allHeld(judge({ ...good, faults: KINDS.slice(1) }))).toBe(false);
    expect(allHeld(judge({ ...good, strangers: { started: 2, served: 1 } }))).toBe(false);
    const balances = [{ environment: 'sandbox', availableCents: 1 }];
    expect(allHeld(judge({ ...good, balances }))).toBe(false);
  });
});

describe('the way to PostgreSQL', () => {
  /** Says back what it hears. */
  async function open() {
    const path = join(directory, 'echo');
    rmSync(path, { force: true });
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const way = await startWay(path);
    const client = connect(way.port, '127.0.0.1').setEncoding('utf8');
    client.on('error', () => {});
    const heard = () => new Promise<string>((resolve) => client.once('data', resolve));
    const ended = new Promise<string>((resolve) => client.once('close', () => resolve('closed')));
    client.write('one');
    expect(await heard()).toBe('one');
    const close = async () => {
      client.destroy();
      await way.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    };
    return { way, client, heard, ended, close };
  }

  it('holds up what is said, and lets it through late', async () => {
    const { way, client, heard, close } = await open();
    way.block();
    client.write('two');
    const later = heard();
    expect(await Promise.race([later, new Promise((resolve) => setTimeout(resolve, 50, 'nothing'))])).toBe(
      'nothing',
    );
    way.open('late');
    expect(await later).toBe('two');
    await close();
  });

  it.each(['cut', 'never'] as const)('ends connections: %s', async (how) => {
    const { way, ended, close } = await open();
    if (how === 'cut') way.cut();
    else {
      way.block();
      way.open('never');
    }
    expect(await ended).toBe('closed');
    await close();
  });
});
