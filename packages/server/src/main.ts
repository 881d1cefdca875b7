/** The command line. Exit statuses: 0 for success, 1 for a failure, 2 for wrong usage. */
import { DocumentError, FORMATS } from '@dragoman/documents';
import { EmbeddedPostgresError } from '@dragoman/embedded-postgres';
import { InstallError } from '@dragoman/engines';
import { CommanderError, Option } from 'commander';
import { AccountError } from './access/accounts.ts';
import { SecretKeyError } from './access/secret-key.ts';
import { ApiError } from './base/errors.ts';
import { counted } from './base/text.ts';
import { VERSION } from './base/version.ts';
import { BrandError } from './brands/brands.ts';
import { addAccountCommands } from './commands/account.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addBrandCommands } from './commands/brand.ts';
import { addChatCommands } from './commands/chat.ts';
import { type CompareOptions, compareEngines } from './commands/compare.ts';
import { addDeliveryCommands } from './commands/delivery.ts';
import { examineInstallation } from './commands/doctor.ts';
import { installEngine } from './commands/engine.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLedgerCommands } from './commands/ledger.ts';
import { serveAgent } from './commands/mcp.ts';
import { addMemoryCommands } from './commands/memory.ts';
import { addModelCommands } from './commands/model.ts';
import { Command, data, engineNames, json, settingsWith, withStore, yes } from './commands/options.ts';
import { CommandError, ignoreClosedPipes, print, printJson, say } from './commands/output.ts';
import { addPairCommands } from './commands/pair.ts';
import { addRouteCommands } from './commands/route.ts';
import { addRuleCommands } from './commands/rule.ts';
import { addTaskCommands } from './commands/task.ts';
import { translate } from './commands/translate.ts';
import { addUserCommands } from './commands/user.ts';
import { addVoteCommands } from './commands/vote.ts';
import { BackupError } from './database/backup.ts';
import { NoDatabaseError } from './database/embedded.ts';
import { explainDatabaseError } from './database/explain.ts';
import { distributeSchema, SchemaError } from './database/migrate.ts';
import { LedgerError } from './ledger/ledger.ts';
import type { Role } from './roles/serve.ts';
import {
  describeSettings,
  effectiveSettings,
  SettingError,
  warnOfUnknownSettings,
} from './settings/settings.ts';

export const program = new Command('dragoman')
  .description('An open, self-hostable translation service.')
  .version(VERSION)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .hook('preAction', (_, command) => {
    // `serve` logs warnings about unknown settings itself, and `mcp` does not read the settings.
    if (['serve', 'mcp'].includes(command.name())) return;
    for (const sentence of warnOfUnknownSettings(process.env)) say(sentence);
  });

program
  .command('serve')
  .description('run the server; it is ready when GET /readyz answers 200')
  .option('--port <port>', 'the port to listen on (DRAGOMAN_PORT)')
  .option('--host <host>', 'the address to listen on (DRAGOMAN_HOST)')
  .addOption(data())
  .addOption(
    new Option('--role <role>', 'the role of this process').choices(['all', 'api', 'worker']).default('all'),
  )
  // The modules of the server are half of all, and no other command needs them.
  .action(async (options: { port?: string; host?: string; data?: string; role: Role }) => {
    const { serve } = await import('./commands/serve.ts');
    return serve(settingsWith(options), options.role);
  });

program
  .command('demo')
  .description('run the whole service with example jobs, a customer and a receiver of callbacks')
  .option('--exit', 'end after the last delivery; status 0 only if all arrived', false)
  .addOption(data())
  .addOption(yes())
  .action(async (options: { data?: string; yes?: boolean; exit: boolean }) =>
    (await import('./commands/demo.ts')).demo(options),
  );

program
  .command('migrate')
  .description('update the database schema to this version')
  .option('--distributed', 'also distribute the tables over the nodes of a Citus cluster')
  .onStore()
  .action((options: { data?: string; json?: boolean; distributed?: boolean }) =>
    withStore(
      options,
      async ({ migrated, connection }) => {
        const distributed = options.distributed ? await distributeSchema(connection) : undefined;
        if (options.json) return printJson({ applied: migrated, ...(distributed && { distributed }) });
        print(migrated.length === 0 ? 'The schema is up to date.' : `Applied ${migrated.join(', ')}.`);
        if (distributed !== undefined) print(`Distributed ${counted(distributed.length, 'table')}.`);
      },
      'make',
    ),
  );

program
  .command('doctor')
  .description('check the version, database, secret key, workers, engines, pairs, clock and disk')
  .option('--fresh', 'repeat the self-tests of engines that a worker tested within a day', false)
  .onStore()
  .action(async ({ fresh, ...options }: { fresh: boolean; data?: string; json?: boolean }) => {
    const findings = await examineInstallation(settingsWith(options), fresh);
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
  .option('--effective', 'print the values in force and their origins, without secrets', false)
  .addOption(json())
  .action((options: { effective: boolean; json?: boolean }) => {
    if (options.effective) {
      printEffective(options);
      return;
    }
    const settings = describeSettings();
    if (options.json) return printJson({ settings });
    for (const { name, default: fallback, meaning, secret } of settings) {
      const other = secret ? ` Or the path of a file with the value: ${name}_FILE.` : '';
      print(`${name}${fallback === '' ? '' : `=${fallback}`}\n    ${meaning}${other}`);
    }
  });

function printEffective(options: { json?: boolean }): void {
  const settings = effectiveSettings(process.env).map(({ name, value, secret, source }) => ({
    name,
    value: secret ? null : value,
    source,
  }));
  if (options.json) printJson({ settings });
  for (const { name, value, source } of options.json ? [] : settings) {
    const shown = value ?? (source === 'default' ? '' : '(hidden)');
    print(`${`${name}=${shown}`.padEnd(48)}  ${source}`);
  }
}

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
addRuleCommands(program);
addVoteCommands(program);

const engine = program.command('engine').description('install the offline engine, and compare engines');
engine
  .command('compare')
  .description('translate the lines of a file with several engines, and compare quality, speed and cost')
  .argument('<source>', 'source language')
  .argument('<target>', 'target language')
  .argument('<file>', 'a file with one text in each line')
  .option('--references <file>', 'a file with a good translation of each line, for chrF')
  .option('--engines <names>', 'comma-separated; by default those of DRAGOMAN_ENGINES', engineNames)
  .onStore()
  .action((source: string, target: string, file: string, options: CompareOptions & { data?: string }) =>
    compareEngines(settingsWith(options), [source, target, file], options),
  );
engine
  .command('install')
  .description('install the offline engine: for the whole system as root, otherwise in the data directory')
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
  .addOption(new Option('--format <format>', 'format of the text').choices(FORMATS).default('text'))
  .option('--engine <name>', 'the engine; by default those of DRAGOMAN_ENGINES', engineNames)
  .addOption(data())
  .addOption(yes())
  .action((file: string, options) => translate(settingsWith(options), file, options));

program
  .command('mcp')
  .description('give an agent tools for a server (MCP): set DRAGOMAN_URL and DRAGOMAN_KEY')
  .action(() => serveAgent(process.env));

/** The groups of commands in `--help`. */
const GROUPS = {
  'Server:': ['serve', 'demo', 'migrate', 'doctor', 'settings', 'secret-key', 'backup', 'restore'],
  'Engines and languages:': ['engine', 'model', 'route', 'pair', 'translate'],
  'Customers and people:': [
    'account',
    'user',
    'key',
    'webhook-secret',
    'chat',
    'brand',
    'glossary',
    'memory',
  ],
  'Jobs, callbacks and money:': ['task', 'vote', 'rule', 'delivery', 'ledger'],
  'Agents:': ['mcp'],
};
for (const [heading, names] of Object.entries(GROUPS)) {
  for (const name of names) program.commands.find((one) => one.name() === name)!.helpGroup(heading);
}

const EXPECTED = [
  ApiError,
  SettingError,
  AccountError,
  BackupError,
  BrandError,
  CommandError,
  DocumentError,
  EmbeddedPostgresError,
  InstallError,
  LedgerError,
  NoDatabaseError,
  SchemaError,
  SecretKeyError,
];

/** Returns one sentence for an expected error, or the stack for a bug. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message;
  const trouble = explainDatabaseError(error);
  if (trouble !== undefined) return `${trouble.problem}: ${trouble.remedy}`;
  // Node's message names the file and the problem.
  if ((error as NodeJS.ErrnoException).path !== undefined) return `${error.message}.`;
  return error.stack ?? error.message;
}

/** Returns whether a word is no command. Commander would print the help of the group for it, as a success. */
function isUnknown(args: readonly string[]): boolean {
  let group: Pick<Command, 'commands'> = program;
  for (const word of args) {
    if (group.commands.length === 0 || word.startsWith('-') || word === 'help') return false;
    const found = group.commands.find((one) => one.name() === word);
    if (found === undefined) return true;
    group = found;
  }
  return false;
}

/**
 * Runs a command and sets the exit status of the process. Results go to standard output, everything else to
 * standard error. With `--json`, a failure is a JSON object there, too.
 */
export async function main(args: string[]): Promise<void> {
  ignoreClosedPipes();
  try {
    const given = isUnknown(args) ? args.filter((one) => one !== '--help' && one !== '-h') : args;
    await program.parseAsync(given, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the problem. A request for help is not an error.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      const sentence = sentenceOf(error);
      say(args.includes('--json') ? JSON.stringify({ error: sentence }) : sentence);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main(process.argv.slice(2));
