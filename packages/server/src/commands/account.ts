/** The command `dragoman account`: manages customer accounts. */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed, MAX_KEY_REQUESTS, moveAccount } from '../access/accounts.ts';
import { createAccount, setAccount } from '../accounts/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Environment } from '../base/account.ts';
import { counted } from '../base/text.ts';
import { defaultBrand, requireBrand, setDefaultBrand } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import { readBalances, topUp } from '../ledger/ledger.ts';
import { listAccounts } from '../overview/accounts.ts';
import { amount, type Command, cents, environment, onOrOff, withStore, withVault } from './options.ts';
import { print, printJson, printTable, say } from './output.ts';
import { addRetentionCommands } from './retention.ts';

export function addAccountCommands(program: Command): void {
  const account = program.command('account').description('manage customer accounts');
  addRetentionCommands(account);
  addCreate(account);
  addList(account);
  addSet(account);
  addTopUp(account);
  addSuspendAndResume(account);
}

function addCreate(account: Command): void {
  account
    .command('create')
    .description(
      'create an account with a key and a webhook secret for each environment; they are shown only once',
    )
    .argument('<name>', 'the username')
    .option('--email <email>', 'the customer’s e-mail address')
    .option('--balance <cents>', 'the opening balance in production, in cents', cents, 0)
    .option('--prepaid <on|off>', 'on: the balance cannot go below zero; off: no credit limit', onOrOff, true)
    .addOption(
      new Option('--dialect <dialect>', 'the dialect of its API keys')
        .choices(['spec', 'legacy'])
        .default('spec'),
    )
    .option('--chat', 'enable chat', false)
    .onStore()
    .action(
      (
        username: string,
        options: {
          email?: string;
          balance: number;
          prepaid: boolean;
          dialect: 'spec' | 'legacy';
          chat: boolean;
          data?: string;
          json?: boolean;
        },
      ) =>
        withVault(options, async ({ database, vault }) => {
          const credentials = await createAccount(database, vault, 'command', {
            username,
            email: options.email,
            balanceCents: options.balance,
            dialect: options.dialect,
            chat: options.chat,
            prepaid: options.prepaid,
          });
          if (options.json) return printJson(credentials);
          for (const [name, value] of Object.entries(credentials)) print(`${name.padEnd(26)} ${value}`);
          say('Keys and secrets are not shown again.');
        }),
    );
}

function addList(account: Command): void {
  account
    .command('list')
    .description('list accounts by username, with their balances in cents')
    .onStore()
    .action((options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const accounts = await everyAccount(database);
        if (options.json) return printJson({ accounts });
        printTable(
          ['account', 'status', 'e-mail', 'chat', 'production', 'sandbox', 'created'],
          accounts.map(({ username, status, email, chat, balance, sandbox_balance, created_at }) => [
            username,
            status,
            email ?? '-',
            chat ? 'on' : 'off',
            String(balance),
            String(sandbox_balance),
            created_at.toISOString(),
          ]),
          'There are no accounts.',
        );
      }),
    );
}

function addSet(account: Command): void {
  account
    .command('set')
    .description('change an account; without options, show it')
    .argument('<name>', 'the username')
    .option('--prepaid <on|off>', 'on: the balance cannot go below zero; off: no credit limit', onOrOff)
    .option(
      '--credit-limit <cents>',
      'how far the balance may go below zero; makes the account prepaid',
      cents,
    )
    .option('--chat <on|off>', 'enable or disable chat', onOrOff)
    .option('--chat-correction <on|off>', 'let editors correct chat messages after delivery', onOrOff)
    .option(
      '--key-requests <requests>',
      'how many requests a second each key may send; 0: no limit; "default": as DRAGOMAN_KEY_REQUESTS',
      keyRequests,
    )
    .option('--default-brand <brand>', 'the brand of requests that name none; "none" for no brand')
    .addOption(environment().default('production', 'the environment of --prepaid and --credit-limit'))
    .onStore()
    .action(
      (
        username: string,
        options: {
          prepaid?: boolean;
          creditLimit?: number;
          chat?: boolean;
          chatCorrection?: boolean;
          keyRequests?: number | 'default';
          defaultBrand?: string;
          environment: Environment;
          data?: string;
          json?: boolean;
        },
      ) =>
        withStore(options, async ({ database }) => {
          const { chat, chatCorrection, creditLimit, keyRequests, prepaid, environment } = options;
          const wanted = options.defaultBrand === 'none' ? undefined : options.defaultBrand;
          if (wanted !== undefined) {
            // The brand is checked before any change, so that the account stays unchanged if the brand is
            // unknown.
            await requireBrand(database, (await accountNamed(database, username)).ref, wanted);
          }
          await setAccount(database, 'command', username, {
            chat,
            chatCorrection,
            creditLimit,
            keyRequests: keyRequests === 'default' ? null : keyRequests,
            prepaid,
            environment,
          });
          const { ref, ...fields } = await accountNamed(database, username);
          if (options.defaultBrand !== undefined) await setDefaultBrand(database, 'command', ref, wanted);
          const brand = (await defaultBrand(database, ref)) ?? null;
          const balances = await readBalances(database, ref);
          if (options.json)
            return printJson({ id: ref.accountId, ...fields, default_brand: brand, balances });
          if (fields.status !== 'active') print(fields.status);
          print(`${fields.username}, ${fields.email ?? 'no e-mail'}, chat ${fields.chat ? 'on' : 'off'}`);
          if (fields.chat_correction) print('editors correct its chat messages');
          if (fields.key_requests !== null) {
            print(
              fields.key_requests === 0
                ? 'no limit of requests'
                : `${counted(fields.key_requests, 'request')} a second for each key`,
            );
          }
          if (brand !== null) print(`default brand ${brand}`);
          for (const { environment, balance, credit_limit } of balances) {
            const limit =
              credit_limit === null ? 'no credit limit' : `credit limit ${counted(credit_limit, 'cent')}`;
            print(`${environment.padEnd(10)} ${counted(balance, 'cent')}, ${limit}`);
          }
        }),
    );
}

/** Reads a limit of requests a second. */
function keyRequests(written: string): number | 'default' {
  if (written === 'default') return written;
  const limit = /^\d{1,6}$/.test(written) ? Number(written) : Number.NaN;
  if (!(limit <= MAX_KEY_REQUESTS)) {
    throw new InvalidArgumentError(`It must be a whole number up to ${MAX_KEY_REQUESTS}, or "default".`);
  }
  return limit;
}

function addTopUp(account: Command): void {
  account
    .command('top-up')
    .description('add funds to a balance')
    .argument('<name>', 'the username')
    .argument('<cents>', 'the amount in cents', amount)
    .option('--memo <text>', 'the text on the statement')
    .addOption(environment().default('production'))
    .onStore()
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
          print(`${username} has ${counted(balance, 'cent')} in ${options.environment}.`);
        }),
    );
}

function addSuspendAndResume(account: Command): void {
  for (const [name, description] of [
    ['suspend', 'refuse the keys of an account and stop its queues; nothing is deleted'],
    ['resume', 'let a suspended account work again'],
  ] as const) {
    account
      .command(name)
      .description(description)
      .argument('<name>', 'the username')
      .onStore()
      .action((username: string, options: { data?: string; json?: boolean }) =>
        withStore(options, async ({ database }) => {
          await moveAccount(database, 'command', await accountNamed(database, username), name);
          const { status } = await accountNamed(database, username);
          if (options.json) return printJson({ username, status });
          print(`${username} is ${status}.`);
        }),
      );
  }
}

const PAGE = 1000;

async function everyAccount(database: Database): Promise<Awaited<ReturnType<typeof listAccounts>>> {
  const filter = { part: undefined, overdrawn: false };
  const accounts = await listAccounts(database, { ...filter, after: undefined }, PAGE);
  for (let page = accounts; page.length === PAGE; accounts.push(...page)) {
    page = await listAccounts(database, { ...filter, after: accounts.at(-1)!.username }, PAGE);
  }
  return accounts;
}
