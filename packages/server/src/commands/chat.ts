/** The command `dragoman chat`: manages chat subscriptions. */
import { InvalidArgumentError } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { subscribe } from '../chats/chats.ts';
import type { Database } from '../database/database.ts';
import { type Command, withStore } from './options.ts';
import { print, printJson } from './output.ts';

export function addChatCommands(program: Command): void {
  const chat = program.command('chat').description('manage chat subscriptions');
  chat
    .command('subscribe')
    .description('enable chat for an account')
    .argument('<account>', 'the username')
    .option('--pairs <pairs>', 'such as en-es,es-en; or all that are offered', pairs, null)
    .onStore()
    .action((username: string, options: { pairs: string[] | null; data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await set(database, ref, username, { pairs: options.pairs });
        if (options.json) return printJson({ username, chat: true, pairs: options.pairs });
        print(`${username} may chat in ${options.pairs?.join(', ') ?? 'all pairs that are offered'}.`);
      }),
    );
  chat
    .command('unsubscribe')
    .description('disable chat for an account; its chats are kept')
    .argument('<account>', 'the username')
    .onStore()
    .action((username: string, options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await set(database, ref, username, undefined);
        if (options.json) return printJson({ username, chat: false });
        print(`Chat is disabled for ${username}.`);
      }),
    );
}

async function set(
  database: Database,
  account: AccountRef,
  username: string,
  subscription: { pairs: string[] | null } | undefined,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await subscribe(transaction, account, subscription);
    await recordAudit(transaction, 'command', {
      action: 'account.changed',
      account,
      subject: username,
      detail: { chat: subscription ?? null },
    });
  });
}

/** Reads a list of language pairs. `all` becomes null, which includes pairs that are offered later. */
function pairs(written: string): string[] | null {
  if (written === 'all') return null;
  const given = written.split(',').map((pair) => pair.trim());
  if (!given.every((pair) => /^[a-z]{2,3}(-[a-z0-9]{2,8})+$/.test(pair))) {
    throw new InvalidArgumentError('It must be a list of pairs such as en-es,es-en, or all.');
  }
  return [...new Set(given)];
}
