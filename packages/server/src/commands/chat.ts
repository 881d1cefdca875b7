/** `dragoman chat`: who may chat, in which pairs. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { AccountRef } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import { subscribe } from '../chats/chats.ts';
import type { Database } from '../database/database.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, json, withStore } from './options.ts';
import { print, printJson } from './output.ts';

export function addChatCommands(program: Command): void {
  const chat = program.command('chat').description('chat subscriptions');
  chat
    .command('subscribe')
    .description('let an account chat')
    .argument('<account>', 'the username')
    .option('--pairs <pairs>', 'en-es,es-en and so on, or all that are offered', pairs, null)
    .addOption(data())
    .addOption(json())
    .action((username: string, options: { pairs: string[] | null; data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await set(database, ref, username, { pairs: options.pairs });
        if (options.json) return printJson({ username, chat: true, pairs: options.pairs });
        print(`${username} may chat in ${options.pairs?.join(', ') ?? 'every pair that is offered'}.`);
      }),
    );
  chat
    .command('unsubscribe')
    .description('end an account’s chat subscription; its chats are kept')
    .argument('<account>', 'the username')
    .addOption(data())
    .addOption(json())
    .action((username: string, options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await set(database, ref, username, undefined);
        if (options.json) return printJson({ username, chat: false });
        print(`${username} may not chat any more.`);
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
      ...{ action: 'account.changed', account, subject: username },
      detail: { chat: subscription ?? null },
    });
  });
}

/** `all` is every pair, those that come to be offered later too. */
function pairs(written: string): string[] | null {
  if (written === 'all') return null;
  const given = written.split(',').map((pair) => pair.trim());
  if (!given.every((pair) => /^[a-z]{2,3}(-[a-z0-9]{2,8})+$/.test(pair))) {
    throw new InvalidArgumentError('It must be a comma list of pairs such as en-es, or all.');
  }
  return [...new Set(given)];
}
