/**
 * Runs the scale proof with few faults, tests that it misses a goal for each planted fault, and tests the network
 * link.
 */
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { CHECKS } from '../crash/checks.ts';
import { expectHeld, shortRun, testJudgement } from '../harness/testing.ts';
import { FAULTS } from './faults.ts';
import { startLink } from './link.ts';
import { runScale, type ScaleHistory } from './run.ts';
import { judge } from './scale.ts';

const run = shortRun('scale');

it.runIf(FULL)(
  'scale proof: finds no lost job and no double charge with two processes of each role',
  async () => {
    const history = await runScale({ ...run, faults: 2, between: { least: 3, most: 10 } });
    expectHeld(CHECKS, history, run.seed);
    expect(history.strangers).toEqual({ started: 2, served: 0 });
  },
);

const good: ScaleHistory = {
  orders: [],
  arrivals: [],
  kills: [1],
  databaseKills: 0,
  holdMilliseconds: 0,
  deliveriesAtATime: 1,
  jobs: [],
  transfers: [],
  deliveries: [],
  balances: [],
  faults: [...FAULTS],
  strangers: { started: 2, served: 0 },
};

testJudgement(judge, good, [
  ['a fault never happened', { faults: FAULTS.slice(1) }],
  ['a process with another key served', { strangers: { started: 2, served: 1 } }],
  [
    'a check found something',
    { balances: [{ account: 'scale', environment: 'sandbox', availableCents: 1 }] },
  ],
]);

describe('network link of the scale proof', () => {
  /** Connects through a link to a server that echoes. */
  async function open() {
    const path = join(run.directory, 'echo');
    rmSync(path, { force: true });
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const link = await startLink({ path });
    const client = connect(link.port, '127.0.0.1').setEncoding('utf8');
    client.on('error', () => {});
    const received = () => new Promise<string>((resolve) => client.once('data', resolve));
    const ended = new Promise<string>((resolve) => client.once('close', () => resolve('closed')));
    client.write('one');
    expect(await received()).toBe('one');
    const close = async () => {
      client.destroy();
      await link.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    };
    return { link, client, received, ended, close };
  }

  it('delays bytes while it is blocked and delivers them afterwards', async () => {
    const { link, client, received, close } = await open();
    link.block();
    client.write('two');
    const later = received();
    const nothing = new Promise((resolve) => setTimeout(resolve, 50, 'nothing'));
    expect(await Promise.race([later, nothing])).toBe('nothing');
    link.unblock('late');
    expect(await later).toBe('two');
    await close();
  });

  it.each(['cut', 'never'] as const)(
    'closes connections that are cut or never unblocked: %s',
    async (how) => {
      const { link, ended, close } = await open();
      if (how === 'cut') link.cut();
      else {
        link.block();
        link.unblock('never');
      }
      expect(await ended).toBe('closed');
      await close();
    },
  );
});
