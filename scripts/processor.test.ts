import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { countUnder, processesUnder } from './processor.ts';

/** Works for 0.6 seconds of processor time, says so and waits. */
const BUSY = `const spent = () => process.cpuUsage().user + process.cpuUsage().system;
  while (spent() < 6e5); console.log('done'); setInterval(() => {}, 1e6)`;
const START = `require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]], { stdio: ['ignore', 'inherit', 'ignore'] })`;

it('counts the time of processes for which nobody waited, and no time twice', async () => {
  const count = countUnder(process.pid);
  const before = count();
  const parent = spawn(process.execPath, ['-e', START, BUSY], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(parent.stdout, 'data');
  const busy = processesUnder(parent.pid!).find((one) => one.parent === parent.pid)!.pid;
  const working = count() - before;
  expect(working).toBeGreaterThan(0.5);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  process.kill(busy);
  const ended = count() - before;
  expect(ended).toBeGreaterThanOrEqual(working - 0.02);
  expect(ended).toBeLessThan(working + 0.4);
});
