/** The command line. Exit status: 0 done, 1 failed, 2 wrong usage. */
import { DocumentError } from '@dragoman/documents';
import { InstallError } from '@dragoman/engines';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { AccountError, createAccount } from './accounts/accounts.ts';
import { examineInstallation } from './commands/doctor.ts';
import { installEngine } from './commands/engine.ts';
import { CommandError, print, printJson, say } from './commands/output.ts';
import { serve } from './commands/serve.ts';
import { translate } from './commands/translate.ts';
import { EmbeddedError } from './database/embedded.ts';
import { verifyLedger } from './ledger/ledger.ts';
import { createLog } from './log.ts';
import { openStore, type Store } from './program.ts';
import type { Role } from './serve.ts';
import { describeSettings, loadSettings, SettingError, type Settings } from './settings.ts';

const program = new Command('dragoman')
  .description('An open, self-hostable translation service.')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

const json = () => new Option('--json', 'one JSON object on standard output');
const data = () => new Option('--data <dir>', 'the data directory (DRAGOMAN_DATA)');
const yes = () => new Option('--yes', 'install the offline engine without asking, where it is missing');

/** Options win over the environment, the environment over the settings file. */
function settingsWith(options: { data?: string; port?: string; host?: string }): Settings {
  return loadSettings({
    ...process.env,
    ...(options.data === undefined ? {} : { DRAGOMAN_DATA: options.data }),
    ...(options.port === undefined ? {} : { DRAGOMAN_PORT: options.port }),
    ...(options.host === undefined ? {} : { DRAGOMAN_HOST: options.host }),
  });
}

async function withStore<T>(options: { data?: string }, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(settingsWith(options), 'command', createLog('error'));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

program
  .command('serve')
  .description('run the server; ready when GET /readyz answers 200')
  .option('--port <port>', 'the port to listen on (DRAGOMAN_PORT)')
  .option('--host <host>', 'the address to listen on (DRAGOMAN_HOST)')
  .addOption(data())
  .addOption(
    new Option('--role <role>', 'what this process does').choices(['all', 'api', 'worker']).default('all'),
  )
  .action((options: { port?: string; host?: string; data?: string; role: Role }) =>
    serve(settingsWith(options), options.role),
  );

program
  .command('migrate')
  .description('bring the database schema up to this version')
  .addOption(data())
  .addOption(json())
  .action((options: { data?: string; json?: boolean }) =>
    withStore(options, async ({ migrated }) => {
      if (options.json) printJson({ applied: migrated });
      else print(migrated.length === 0 ? 'The schema is up to date.' : `Applied ${migrated.join(', ')}.`);
    }),
  );

program
  .command('doctor')
  .description('check the database, the engine, the pairs, the clock and the disk')
  .addOption(data())
  .addOption(json())
  .action(async (options: { data?: string; json?: boolean }) => {
    const findings = await examineInstallation(settingsWith(options));
    if (options.json) printJson({ ok: findings.every(({ ok }) => ok), findings });
    for (const { check, ok, detail, remedy } of options.json ? [] : findings) {
      print(`${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(9)} ${detail}`);
      if (remedy !== undefined) print(`      ${' '.repeat(9)} → ${remedy}`);
    }
    if (!findings.every(({ ok }) => ok)) process.exitCode = 1;
  });

program
  .command('settings')
  .description('print every setting with its default and meaning')
  .addOption(json())
  .action((options: { json?: boolean }) => {
    const settings = describeSettings();
    if (options.json) return printJson({ settings });
    for (const { name, default: fallback, meaning } of settings) {
      print(`${name}${fallback === '' ? '' : `=${fallback}`}\n    ${meaning}`);
    }
  });

const account = program.command('account').description('customers');
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
      withStore(options, async ({ database, vault }) => {
        const credentials = await createAccount(database, vault, {
          username,
          email: options.email,
          balanceCents: options.balance,
          dialect: options.dialect,
          chat: options.chat,
        });
        if (options.json) return printJson(credentials);
        for (const [name, value] of Object.entries(credentials)) print(`${name.padEnd(26)} ${value}`);
        say('Keys and secrets are not shown again.');
      }),
  );

program
  .command('ledger')
  .description('money')
  .command('verify')
  .description('re-add every balance and every job’s price from the transfers')
  .addOption(data())
  .addOption(json())
  .action((options: { data?: string; json?: boolean }) =>
    withStore(options, async ({ database }) => {
      const { discrepancies, ...totals } = await verifyLedger(database);
      if (options.json) printJson({ ok: discrepancies.length === 0, ...totals, discrepancies });
      else {
        print(`${totals.transfers} transfers of ${totals.accounts} accounts, ${totals.cents} cents in all`);
        for (const { rule, account_id, subject, detail } of discrepancies) {
          print(`FAIL  ${rule} ${account_id} ${subject}: ${detail}`);
        }
        print(discrepancies.length === 0 ? 'The ledger is sound.' : `${discrepancies.length} discrepancies.`);
      }
      if (discrepancies.length > 0) process.exitCode = 1;
    }),
  );

program
  .command('engine')
  .description('machine translation')
  .command('install')
  .description('install the offline engine: for the whole system as root, else in the data directory')
  .addOption(data())
  .addOption(yes())
  .action(async (options: { data?: string }) => {
    await installEngine(settingsWith(options));
  });

program
  .command('translate')
  .description('translate a file or standard input, without a server')
  .argument('[file]', 'a file, or - for standard input', '-')
  .requiredOption('--from <language>', 'source language')
  .requiredOption('--to <language>', 'target language')
  .addOption(
    new Option('--format <format>', 'format of the text')
      .choices(['text', 'html', 'srt', 'xliff'])
      .default('text'),
  )
  .option('--engine <name>', 'which engine', 'apertium')
  .addOption(data())
  .addOption(yes())
  .action((file: string, options) => translate(settingsWith(options), file, options));

function cents(written: string): number {
  if (!/^\d{1,12}$/.test(written)) throw new InvalidArgumentError('It must be a whole number of cents.');
  return Number(written);
}

const EXPECTED = [SettingError, AccountError, CommandError, DocumentError, EmbeddedError, InstallError];

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong; asking for help is not wrong.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const expected = EXPECTED.some((kind) => error instanceof kind);
    say(expected ? (error as Error).message : ((error as Error).stack ?? String(error)));
    process.exitCode = 1;
  }
}
