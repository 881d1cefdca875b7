/** `dragoman key`, `webhook-secret` and `secret-key`: credentials of accounts, and what seals them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AccountRef, Dialect, Environment } from '../account.ts';
import { accountNamed, rollWebhookSecret } from '../accounts/accounts.ts';
import { type Alongside, listKeys, makeKey, revokeKey, rollKey } from '../accounts/keys.ts';
import { replaceSecretKey } from '../accounts/secret-key.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, date, duration, environment, json, settingsWith, withStore, withVault } from './options.ts';
import { CommandError, print, printJson, say } from './output.ts';

interface Options {
  data?: string;
  json?: boolean;
}

const SECONDS_AN_HOUR = 3600;

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys');

  key
    .command('create')
    .description('make a key; it is shown this once')
    .argument('<account>', 'the username')
    .addOption(environment().makeOptionMandatory())
    .option('--name <name>', 'to tell it from others', keyName, 'key')
    .addOption(
      new Option('--dialect <dialect>', 'which face of the interface it sees')
        .choices(['spec', 'legacy'])
        .default('spec'),
    )
    .option('--read-only', 'it may read but not change', false)
    .option('--expires <date>', 'when it ends, in UTC; never where not given', date)
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        options: Options & {
          environment: Environment;
          name: string;
          dialect: Dialect;
          readOnly: boolean;
          expires?: Date;
        },
      ) =>
        withStore(options, async ({ database }) => {
          if (options.expires !== undefined && options.expires <= new Date()) {
            throw new CommandError('A key must end after it begins.');
          }
          const account = await accountNamed(database, username);
          const made = await database.transaction(async (transaction) => {
            const key = await makeKey(transaction, account, {
              ...options,
              expiresAt: options.expires,
              madeBy: undefined,
            });
            const { environment, name, readOnly: read_only } = options;
            const detail = { environment, name, read_only };
            await audited(account.ref, 'key.made', detail)(transaction, key.key_id);
            return key;
          });
          if (options.json) return printJson({ username, ...made });
          print(made.key);
          say('The key is not shown again.');
        }),
    );

  key
    .command('list')
    .description('every key of an account, without its secret')
    .argument('<account>', 'the username')
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Options) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const keys = await listKeys(database, ref);
        if (options.json) return printJson({ username, keys });
        for (const one of keys) {
          const ends = [one.expires_at, one.revoked_at]
            .filter((end) => end !== null)
            .sort((a, b) => +a - +b)[0];
          const words = [
            one.key_id,
            one.environment.padEnd(10),
            one.live ? 'live' : 'over',
            one.name,
            ...(one.dialect === 'legacy' ? ['legacy'] : []),
            ...(one.read_only ? ['read-only'] : []),
            ...(ends === undefined ? [] : [`until ${ends.toISOString()}`]),
            `made by ${one.made_by ?? 'the operator'}`,
            one.last_used_at === null ? 'never used' : `used ${one.last_used_at.toISOString().slice(0, 13)}h`,
          ];
          print(words.join('  '));
        }
      }),
    );

  key
    .command('revoke')
    .description('end a key, at once or after an overlap')
    .argument('<account>', 'the username')
    .argument('<key-id>', 'as key list shows it')
    .option('--after <seconds>', 'how long it still opens', duration, 0)
    .addOption(data())
    .addOption(json())
    .action((username: string, keyId: string, options: Options & { after: number }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const ends = await revokeKey(database, ref, keyId, options.after, audited(ref, 'key.revoked'));
        if (options.json) return printJson({ username, key_id: keyId, ends });
        print(`The key ${keyId} ends at ${ends.toISOString()}.`);
      }),
    );

  key
    .command('roll')
    .description('make a key like another one, which ends after an overlap; the new one is shown this once')
    .argument('<account>', 'the username')
    .argument('<key-id>', 'as key list shows it')
    .option('--overlap <hours>', 'how long the old one still opens', duration, 24)
    .addOption(data())
    .addOption(json())
    .action((username: string, keyId: string, options: Options & { overlap: number }) =>
      withStore(options, async ({ database }) => {
        const account = await accountNamed(database, username);
        const detail = { previous: keyId, overlap: `${options.overlap}h` };
        const write = audited(account.ref, 'key.rolled', detail);
        const seconds = options.overlap * SECONDS_AN_HOUR;
        const rolled = await rollKey(database, account, keyId, seconds, write);
        if (options.json) return printJson({ username, ...rolled });
        print(rolled.key);
        say(`The key is not shown again. ${keyId} ends at ${rolled.previous_ends.toISOString()}.`);
      }),
    );

  program
    .command('webhook-secret')
    .description('what deliveries are signed with')
    .command('roll')
    .description('make a secret, shown this once; those before sign too, for an overlap')
    .argument('<account>', 'the username')
    .addOption(environment().makeOptionMandatory())
    .option('--overlap <hours>', 'how long the old ones still sign', duration, 24)
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Options & { environment: Environment; overlap: number }) =>
      withVault(options, async ({ database, vault }) => {
        const { ref } = await accountNamed(database, username);
        const overlap = options.overlap * SECONDS_AN_HOUR;
        const detail = { environment: options.environment, overlap: `${options.overlap}h` };
        const write = audited(ref, 'webhook_secret.rolled', detail);
        const secret = await rollWebhookSecret(database, vault, ref, options.environment, overlap, write);
        if (options.json) {
          return printJson({ username, environment: options.environment, webhook_secret: secret });
        }
        print(secret);
        say('The secret is not shown again.');
      }),
    );

  program
    .command('secret-key')
    .description('what webhook secrets are sealed with')
    .command('replace')
    .description('use this process’s secret key with the database from now on; for when the old one is lost')
    .addOption(data())
    .addOption(json())
    .action((options: Options) =>
      withStore(options, async ({ database }) => {
        await database.transaction(async (transaction) => {
          await replaceSecretKey(transaction, settingsWith(options));
          await recordAudit(transaction, 'command', {
            action: 'secret_key.replaced',
            subject: 'secret key',
            detail: {},
          });
        });
        if (options.json) return printJson({ replaced: true });
        print('The database is used with this secret key now.');
        say(
          'Secrets that the old key sealed cannot be read. For each account: npx dragoman webhook-secret roll NAME --environment E --overlap 0',
        );
      }),
    );
}

/** Writes that a command did it, in the transaction in which it is done. */
function audited(account: AccountRef, action: string, detail: object = {}): Alongside {
  return (transaction, subject) => recordAudit(transaction, 'command', { action, account, subject, detail });
}

function keyName(written: string): string {
  if (!/^[^\p{C}]{1,100}$/u.test(written)) throw new InvalidArgumentError('It must be 1 to 100 characters.');
  return written;
}
