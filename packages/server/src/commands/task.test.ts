/** Tests the command `dragoman task` while a server is running. */
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { claimTask, orderEdit, pathOf } from '../testing/editors.ts';
import { createClient, createPerson, type TestServer } from '../testing/harness.ts';

const commands = shareCommands(['task']);
const { command } = commands;
let server: TestServer;
beforeAll(() => {
  ({ server } = commands);
});

it('dragoman task lists tasks with their editors and reports, and releases them', async () => {
  const { username, production_key } = await server.createAccount({ balanceCents: 1000 });
  const uid = await orderEdit(createClient(server.url, production_key), 'One house.\n');
  const ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const task = await claimTask(ann);
  const list = await command('list', '--account', username);
  expect(list.stdout).toMatch(
    new RegExp(`^${task.task} +edit +en>es +2 +claimed +${username}/${uid} +20`, 'm'),
  );
  expect(list.stdout).toContain(ann.name);
  const { token } = task.lease;
  await ann.call('POST', pathOf(task, '/report'), { token, reason: 'bad_source' });
  expect((await command('list', '--status', 'reported')).stdout).toMatch(/ bad_source$/m);
  expect((await command('release', task.task)).stdout).toBe(`${task.task} is open.\n`);
  const { tasks, counts } = JSON.parse((await command('list', '--json')).stdout);
  expect(tasks).toMatchObject([{ task: task.task, status: 'open' }]);
  expect(counts).toMatchObject([{ status: 'open', tasks: 1, words: 2 }]);
  expect(await command('release', 'nobody')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('There is no task nobody.'),
  });
});
