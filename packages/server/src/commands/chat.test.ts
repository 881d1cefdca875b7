/** Tests the command `dragoman chat` while a server is running. */
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { createClient, type TestServer } from '../testing/harness.ts';

const commands = shareCommands(['chat']);
const { command } = commands;
let server: TestServer;
beforeAll(() => {
  ({ server } = commands);
});

it('dragoman chat subscribes an account to some or all language pairs, and ends the subscription', async () => {
  const { username, production_key } = await server.createAccount();
  let sent = 0;
  const send = async () =>
    (
      await createClient(server.url, production_key)('POST', '/v2/chats/messages', {
        chat_external_id: 'chat',
        external_id: String(++sent),
        text: 'House.',
        text_format: 'text',
        source_language: 'en',
        target_language: 'es',
      })
    ).status;
  expect(await send()).toBe(402);
  const some = await command('subscribe', username, '--pairs', 'es-en, pt-br-en', '--json');
  expect(JSON.parse(some.stdout)).toEqual({ username, chat: true, pairs: ['es-en', 'pt-br-en'] });
  expect(await send()).toBe(402);
  expect((await command('subscribe', username)).stdout).toBe(
    `${username} may chat in all pairs that are offered.\n`,
  );
  expect(await send()).toBe(201);
  expect((await command('unsubscribe', username)).status).toBe(0);
  expect(await send()).toBe(402);
});

it('dragoman chat refuses an unknown account and invalid pairs', async () => {
  const nobody = await command('subscribe', 'nobody');
  expect(nobody).toEqual({ status: 1, stdout: '', stderr: 'There is no account named nobody.\n' });
  const wrong = await command('subscribe', 'nobody', '--pairs', 'English');
  expect([wrong.status, wrong.stdout]).toEqual([2, '']);
});
