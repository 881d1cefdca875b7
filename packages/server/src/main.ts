/** The command line. Exit status: 0 done, 1 failed, 2 wrong usage. */
import { DocumentError } from '@dragoman/documents';
import { InstallError } from '@dragoman/engines';
import { Command, CommanderError, Option } from 'commander';
import { AccountError } from './accounts/accounts.ts';
import { SecretKeyError } from './accounts/secret-key.ts';
import { BrandError } from './brands/brands.ts';
import { addAccountCommands } from './commands/account.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addBrandCommands } from './commands/brand.ts';
import { addChatCommands } from './commands/chat.ts';
import { addDeliveryCommands } from './commands/delivery.ts';
import { examineInstallation } from './commands/doctor.ts';
import { installEngine } from './commands/engine.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLedgerCommands } from './commands/ledger.ts';
import { addMemoryCommands } from './commands/memory.ts';
import { addModelCommands } from './commands/model.ts';
import { data, json, settingsWith, withStore, yes } from './commands/options.ts';
import { CommandError, heedClosedPipes, print, printJson, say } from './commands/output.ts';
import { addPairCommands } from './commands/pair.ts';
import { addRouteCommands } from './commands/route.ts';
import { serve } from './commands/serve.ts';
import { addTaskCommands } from './commands/task.ts';
import { translate } from './commands/translate.ts';
import { addUserCommands } from './commands/user.ts';
import { BackupError } from './database/backup.ts';
import { EmbeddedError } from './database/embedded.ts';
import { explainDatabaseError } from './database/explain.ts';
import { SchemaError } from './database/migrate.ts';
import { ApiError } from './errors.ts';
import { LedgerError } from './ledger/ledger.ts';
import type { Role } from './serve.ts';
import { describeSettings, SettingError } from './settings.ts';
import { VERSION } from './version.ts';

export const program = new Command('dragoman')
  .description('An open, self-hostable translation service.')
  .version(VERSION)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

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
    withStore(
      options,
      async ({ migrated }) => {
        if (options.json) printJson({ applied: migrated });
        else print(migrated.length === 0 ? 'The schema is up to date.' : `Applied ${migrated.join(', ')}.`);
      },
      'make',
    ),
  );

program
  .command('doctor')
  .description(
    'check the version, the database, the secret key, the workers, the engine, the pairs, the clock and the disk',
  )
  .addOption(data())
  .addOption(json())
  .action(async (options: { data?: string; json?: boolean }) => {
    const findings = await examineInstallation(settingsWith(options));
    if (options.json) printJson({ ok: findings.every(({ ok }) => ok), findings });
    for (const { check, ok, detail, remedy } of options.json ? [] : findings) {
      print(`${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(10)} ${detail}`);
      if (remedy !== undefined) print(`      ${' '.repeat(10)} → ${remedy}`);
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

addAccountCommands(program);
addBackupCommands(program);
addBrandCommands(program);
addKeyCommands(program);
addDeliveryCommands(program);
addLedgerCommands(program);
addChatCommands(program);
addPairCommands(program);
addMemoryCommands(program);
addModelCommands(program);
addRouteCommands(program);
addTaskCommands(program);
addUserCommands(program);

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
  .option('--engine <name>', 'which engine; those of DRAGOMAN_ENGINES otherwise')
  .addOption(data())
  .addOption(yes())
  .action((file: string, options) => translate(settingsWith(options), file, options));

const EXPECTED = [
  ApiError,
  SettingError,
  AccountError,
  BackupError,
  BrandError,
  CommandError,
  DocumentError,
  EmbeddedError,
  InstallError,
  LedgerError,
  SchemaError,
  SecretKeyError,
];

/** What went wrong, in one sentence; a fault of the program shows where it happened. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message;
  const trouble = explainDatabaseError(error);
  if (trouble !== undefined) return `${trouble.problem}: ${trouble.remedy}`;
  // Node says which file, and what is wrong with it.
  if ((error as NodeJS.ErrnoException).path !== undefined) return `${error.message}.`;
  return error.stack ?? error.message;
}

/** Does what the arguments say. Results go to standard output, all else to standard error; the status is the process's. */
export async function main(args: string[]): Promise<void> {
  heedClosedPipes();
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong; asking for help is not wrong.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      say(sentenceOf(error));
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main(process.argv.slice(2));
