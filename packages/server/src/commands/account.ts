/** `dragoman account`: customers, as the operator keeps them. */
import { type Command, Option } from 'commander';
import type { Environment } from '../account.ts';
import { accountNamed, createAccount, setAccount } from '../accounts/accounts.ts';
import { defaultBrand, requireBrand, setDefaultBrand } from '../brands/brands.ts';
import { readBalances, topUp } from '../ledger/ledger.ts';
import { recordAudit } from '../operations/audit.ts';
import { amount, cents, data, environment, json, onOrOff, withStore, withVault } from './options.ts';
import { print, printJson, say } from './output.ts';
import { addRetentionCommands } from './retention.ts';

export function addAccountCommands(program: Command): void {
  const account = program.command('account').description('customers');
  addRetentionCommands(account);
  account
    .command('create')
    .description(
      'make an account with a key and a webhook secret for each environment; they are shown this once',
    )
    .argument('<name>', 'the username')
    .option('--email <email>', 'where to reach the customer')
    .option('--balance <cents>', 'put this much on the production balance', cents, 0)
    .addOption(
      new Option('--dialect <dialect>', 'which face of the interface its keys see')
        .choices(['spec', 'legacy'])
        .default('spec'),
    )
    .option('--chat', 'subscribe the account to chat', false)
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        options: {
          email?: string;
          balance: number;
          dialect: 'spec' | 'legacy';
          chat: boolean;
          data?: string;
          json?: boolean;
        },
      ) =>
        withVault(options, async ({ database, vault }) => {
          const credentials = await createAccount(database, vault, {
            username,
            email: options.email,
            balanceCents: options.balance,
            dialect: options.dialect,
            chat: options.chat,
          });
          const { ref } = await accountNamed(database, username);
          const { email = null, balance: balance_cents, chat } = options;
          await recordAudit(database, 'command', {
            ...{ action: 'account.created', account: ref, subject: username },
            detail: { email, balance_cents, chat },
          });
          if (options.json) return printJson(credentials);
          for (const [name, value] of Object.entries(credentials)) print(`${name.padEnd(26)} ${value}`);
          say('Keys and secrets are not shown again.');
        }),
    );

  account
    .command('set')
    .description('change an account; without options, show it')
    .argument('<name>', 'the username')
    .option('--prepaid <on|off>', 'on: it spends only what it has; off: it may owe without limit', onOrOff)
    .option('--credit-limit <cents>', 'how far it may owe; makes it prepaid', cents)
    .option('--chat <on|off>', 'its subscription to chat', onOrOff)
    .option(
      '--chat-correction <on|off>',
      'whether people correct the answers of its chats, after they were delivered',
      onOrOff,
    )
    .option('--default-brand <brand>', 'the brand of requests that name none; none: no brand')
    .addOption(environment().default('production', 'production, for prepaid and credit limit'))
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        options: {
          prepaid?: boolean;
          creditLimit?: number;
          chat?: boolean;
          chatCorrection?: boolean;
          defaultBrand?: string;
          environment: Environment;
          data?: string;
          json?: boolean;
        },
      ) =>
        withStore(options, async ({ database }) => {
          const { chat, chatCorrection, creditLimit, prepaid, environment } = options;
          const wanted = options.defaultBrand === 'none' ? undefined : options.defaultBrand;
          if (wanted !== undefined) {
            // Before anything is changed: a wrong brand leaves all as it was.
            await requireBrand(database, (await accountNamed(database, username)).ref, wanted);
          }
          await setAccount(database, username, { chat, chatCorrection, creditLimit, prepaid, environment });
          const { ref, ...fields } = await accountNamed(database, username);
          const asked = { chat, chatCorrection, creditLimit, prepaid, defaultBrand: options.defaultBrand };
          const changed = Object.entries(asked).filter(([, value]) => value !== undefined);
          if (changed.length > 0) {
            await recordAudit(database, 'command', {
              ...{ action: 'account.changed', account: ref, subject: username },
              detail: { ...Object.fromEntries(changed), environment },
            });
          }
          if (options.defaultBrand !== undefined) await setDefaultBrand(database, ref, wanted);
          const brand = (await defaultBrand(database, ref)) ?? null;
          const balances = await readBalances(database, ref);
          if (options.json) return printJson({ ...fields, default_brand: brand, balances });
          print(`${fields.username}, ${fields.email ?? 'no e-mail'}, chat ${fields.chat ? 'on' : 'off'}`);
          if (fields.chat_correction) print('people correct the answers of its chats');
          if (brand !== null) print(`default brand ${brand}`);
          for (const { environment, balance, credit_limit } of balances) {
            const limit = credit_limit === null ? 'may owe without limit' : `may owe ${credit_limit}`;
            print(`${environment.padEnd(10)} ${balance} cents, ${limit}`);
          }
        }),
    );

  account
    .command('top-up')
    .description('put money on a balance')
    .argument('<name>', 'the username')
    .argument('<cents>', 'how much', amount)
    .option('--memo <text>', 'what it is for, as the statement shows it')
    .addOption(environment().default('production'))
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        given: number,
        options: { memo?: string; environment: Environment; data?: string; json?: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const { environment } = options;
          const entry = { environment, cents: given, memo: options.memo ?? 'top-up' };
          const balance = await database.transaction(async (transaction) => {
            const left = await topUp(transaction, ref, entry);
            const detail = { ...entry, balance: left };
            const action = 'money.top_up';
            await recordAudit(transaction, 'command', { action, account: ref, subject: username, detail });
            return left;
          });
          if (options.json) return printJson({ username, environment: options.environment, balance });
          print(`${username} has ${balance} cents in ${options.environment}.`);
        }),
    );
}
