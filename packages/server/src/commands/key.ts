/**
 * The commands `dragoman key`, `dragoman webhook-secret` and `dragoman secret-key`: manage credentials and
 * the key that encrypts webhook secrets.
 */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { countSecrets, type Rotation, rotateSecretKey } from '../access/key-rotation.ts';
import { listKeys, makeKey, revokeKey, rollKey } from '../access/keys.ts';
import { replaceSecretKey } from '../access/secret-key.ts';
import { rollWebhookSecret } from '../access/webhook-secrets.ts';
import { recordAudit } from '../audit/audit.ts';
import { type Dialect, type Environment, type KeyScope, SCOPES } from '../base/account.ts';
import { counted } from '../base/text.ts';
import type { Transaction } from '../database/database.ts';
import {
  amount,
  type Command,
  date,
  duration,
  environment,
  type StoreOptions,
  settingsWith,
  withStore,
  withVault,
} from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

const SECONDS_AN_HOUR = 3600;

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('manage API keys');
  addCreate(key);
  addList(key);
  addRevoke(key);
  addRoll(key);
  addWebhookSecret(program);
  addSecretKey(program);
}

function addCreate(key: Command): void {
  key
    .command('create')
    .description('create a key; it is shown only once')
    .argument('<account>', 'the username')
    .addOption(environment().makeOptionMandatory())
    .option('--name <name>', 'a name to recognize it by', keyName, 'key')
    .addOption(
      new Option('--dialect <dialect>', 'the dialect of its answers')
        .choices(['spec', 'legacy'])
        .default('spec'),
    )
    .option('--read-only', 'allow only reading', false)
    .addOption(
      new Option('--scope <scope...>', 'what it may be used for; everything by default').choices(SCOPES),
    )
    .option('--daily-cents <cents>', 'the most that it may order in a day (UTC); no limit by default', amount)
    .option('--expires <date>', 'when it expires, in UTC; never by default', date)
    .onStore()
    .action(
      (
        username: string,
        options: StoreOptions & {
          environment: Environment;
          name: string;
          dialect: Dialect;
          readOnly: boolean;
          scope?: KeyScope[];
          dailyCents?: number;
          expires?: Date;
        },
      ) =>
        withStore(options, async ({ database }) => {
          if (options.expires !== undefined && options.expires <= new Date()) {
            throw new CommandError('A key must end after it begins.');
          }
          const account = await accountNamed(database, username);
          const made = await database.transaction((transaction) =>
            makeKey(transaction, 'command', account, {
              ...options,
              scopes: options.scope,
              expiresAt: options.expires,
            }),
          );
          if (options.json) return printJson({ username, ...made });
          print(made.key);
          say('The key is not shown again.');
        }),
    );
}

function addList(key: Command): void {
  key
    .command('list')
    .description('list the keys of an account')
    .argument('<account>', 'the username')
    .onStore()
    .action((username: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const keys = await listKeys(database, ref);
        if (options.json) return printJson({ username, keys });
        printTable(
          [
            'key',
            'environment',
            'state',
            'name',
            'dialect',
            'access',
            'scopes',
            'cents a day',
            'ends',
            'made by',
            'last used',
          ],
          keys.map((one) => [
            one.key_id,
            one.environment,
            one.live ? 'opens' : 'ended',
            one.name,
            one.dialect,
            one.read_only ? 'read-only' : 'full',
            one.scopes?.join(', ') ?? 'all',
            one.daily_cents === null ? 'no limit' : `${one.ordered_cents} of ${one.daily_cents}`,
            iso(endOf(one)),
            one.made_by ?? 'the operator',
            iso(one.last_used_at),
          ]),
          `${username} has no keys.`,
        );
      }),
    );
}

function addRevoke(key: Command): void {
  key
    .command('revoke')
    .description('revoke a key, at once or after some time')
    .argument('<account>', 'the username')
    .argument('<key-id>', 'the id of the key, as in key list')
    .option('--after <seconds>', 'how long it stays valid', duration, 0)
    .onStore()
    .action((username: string, keyId: string, options: StoreOptions & { after: number }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const ends = await revokeKey(database, 'command', ref, keyId, options.after);
        if (options.json) return printJson({ username, key_id: keyId, ends });
        print(`The key ${keyId} ends at ${ends.toISOString()}.`);
      }),
    );
}

function addRoll(key: Command): void {
  key
    .command('roll')
    .description('replace a key by a new one, shown only once; the old one stays valid for a while')
    .argument('<account>', 'the username')
    .argument('<key-id>', 'the id of the key, as in key list')
    .option('--overlap <hours>', 'how long the old key stays valid', duration, 24)
    .onStore()
    .action((username: string, keyId: string, options: StoreOptions & { overlap: number }) =>
      withStore(options, async ({ database }) => {
        const account = await accountNamed(database, username);
        const seconds = options.overlap * SECONDS_AN_HOUR;
        const rolled = await rollKey(database, 'command', account, keyId, seconds);
        if (options.json) return printJson({ username, ...rolled });
        print(rolled.key);
        say(`The key is not shown again. ${keyId} ends at ${rolled.previous_ends.toISOString()}.`);
      }),
    );
}

function addWebhookSecret(program: Command): void {
  program
    .command('webhook-secret')
    .description('replace secrets that sign callbacks')
    .command('roll')
    .description('create a secret, shown only once; older ones also sign for a while')
    .argument('<account>', 'the username')
    .addOption(environment().makeOptionMandatory())
    .option('--overlap <hours>', 'how long older secrets also sign', duration, 24)
    .onStore()
    .action((username: string, options: StoreOptions & { environment: Environment; overlap: number }) =>
      withVault(options, async ({ database, vault }) => {
        const { ref } = await accountNamed(database, username);
        const overlap = options.overlap * SECONDS_AN_HOUR;
        const { environment } = options;
        const secret = await rollWebhookSecret(database, vault, 'command', ref, environment, overlap);
        if (options.json) {
          return printJson({ username, environment: options.environment, webhook_secret: secret });
        }
        print(secret);
        say('The secret is not shown again.');
      }),
    );
}

function addSecretKey(program: Command): void {
  const secretKey = program
    .command('secret-key')
    .description('rotate or replace the key that encrypts stored secrets');
  secretKey
    .command('rotate')
    .description(
      'encrypt all stored secrets with DRAGOMAN_SECRET_KEY instead of DRAGOMAN_SECRET_KEY_PREVIOUS',
    )
    .onStore()
    .action((options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const rotation = await rotateSecretKey(database, settingsWith(options));
        if (options.json) printJson(rotation);
        else printRotation(rotation);
        if (rotation.left > 0) process.exitCode = 1;
      }),
    );
  secretKey
    .command('replace')
    .description(
      'use the secret key of this process with the database from now on; for when the old key is lost',
    )
    .option('--yes', 'lose the secrets that are encrypted with the old key', false)
    .onStore()
    .action(({ yes, ...options }: StoreOptions & { yes: boolean }) =>
      withStore(options, async ({ database }) => {
        const replaced = await database.transaction(async (transaction) => {
          if (!(await replaceSecretKey(transaction, settingsWith(options)))) return false;
          if (!yes) await refuseLoss(transaction);
          await recordAudit(transaction, 'command', {
            action: 'secret_key.replaced',
            subject: 'secret key',
            detail: {},
          });
          return true;
        });
        if (options.json) return printJson({ replaced });
        if (!replaced) return print('The database already uses this secret key. Nothing was changed.');
        print('The database now uses this secret key.');
        say(
          'Secrets that were encrypted with the old key cannot be read. For each account, run: dragoman webhook-secret roll NAME --environment E --overlap 0',
        );
      }),
    );
}

/** @throws CommandError when the database has secrets, which the replacement of the secret key would lose */
async function refuseLoss(transaction: Transaction): Promise<void> {
  const { webhookSecrets, secondFactors } = await countSecrets(transaction);
  if (webhookSecrets + secondFactors === 0) return;
  const lost = `${counted(webhookSecrets, 'webhook secret')} and ${counted(secondFactors, 'second factor')}`;
  throw new CommandError(
    `${lost} would be lost. If you have the old key, use: dragoman secret-key rotate. If it is lost, add --yes.`,
  );
}

function printRotation({ sealed, left, unreadable, recoveryCodes }: Rotation): void {
  print(`${counted(sealed, 'secret')} encrypted with the new key, ${left} left.`);
  if (unreadable > 0)
    say(`${counted(unreadable, 'secret')} can be read with neither key: their key was lost before.`);
  if (left > 0) say('Some were changed meanwhile. Run it again.');
  else if (recoveryCodes > 0) {
    say(
      `${counted(recoveryCodes, 'user has', 'users have')} recovery codes. Those from before the rotation work only while DRAGOMAN_SECRET_KEY_PREVIOUS is set.`,
    );
  }
}

/** Returns the time when a key expires or is revoked, whichever is earlier. */
function endOf({
  expires_at,
  revoked_at,
}: {
  expires_at: Date | null;
  revoked_at: Date | null;
}): Date | null {
  if (expires_at === null || revoked_at === null) return expires_at ?? revoked_at;
  return expires_at < revoked_at ? expires_at : revoked_at;
}

const iso = (date: Date | null): string => date?.toISOString() ?? 'never';

function keyName(written: string): string {
  if (!/^[^\p{C}]{1,100}$/u.test(written)) throw new InvalidArgumentError('It must be 1 to 100 characters.');
  return written;
}
