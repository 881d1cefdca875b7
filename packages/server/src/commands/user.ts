/** The command `dragoman user`: manages the people who sign in. */
import { text } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { invitationLink, invitePerson, linkFor } from '../access/invitations.ts';
import {
  createPerson,
  type EditorLanguage,
  listPeople,
  personNamed,
  ROLES,
  renamePerson,
  setDisabled,
  setLanguages,
  setOwner,
  setPassword,
  setReviewShare,
  type User,
} from '../access/people.ts';
import { unlinkUser } from '../access/provider-people.ts';
import { removeSecondFactor } from '../access/second-factor.ts';
import type { PersonRole } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { addressForLinks } from '../roles/address.ts';
import { type Command, type StoreOptions, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

interface PersonOptions extends StoreOptions {
  role: PersonRole;
  name?: string;
  account?: string;
  language?: Pair[];
  review?: boolean;
  reviewShare?: number;
}

type Pair = Pick<EditorLanguage, 'source_language' | 'target_language'>;

const languages = () =>
  new Option('--language <pairs...>', 'language pairs that they edit, such as en:es de:es').argParser(
    (written: string, before: Pair[] | undefined) => [...(before ?? []), pair(written)],
  );
const review = () => new Option('--review', 'they may also review these pairs');
const share = () =>
  new Option('--review-share <percent>', 'percentage of their work that is reviewed (default 100)').argParser(
    percent,
  );

/** Adds the arguments and options of `create` and `invite`. */
const withUserOptions = (command: Command) =>
  command
    .argument('<email>', 'the e-mail address that they sign in with')
    .addOption(new Option('--role <role>', 'the role').choices([...ROLES]).makeOptionMandatory())
    .option('--name <name>', 'the name; by default the part of the e-mail address before the @')
    .option('--account <username>', 'the account of a customer')
    .addOption(languages())
    .addOption(review())
    .addOption(share())
    .onStore();

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('manage people who sign in');
  addCreate(user);
  addInvite(user);
  addReset(user);
  addPassword(user);
  addResetSecondFactor(user);
  addUnlink(user);
  addRename(user);
  addList(user);
  addEnableAndDisable(user);
  addOwner(user);
  addLanguages(user);
}

function addCreate(user: Command): void {
  withUserOptions(user.command('create').description('create a user with a password'))
    .requiredOption('--password-stdin', 'read the password from standard input')
    .action((email: string, options: PersonOptions) =>
      withStore(options, async ({ database }) => {
        const password = await readPassword();
        const wanted = { ...(await personOf(database, email, options)), password };
        await asCommandError(createPerson(database, 'command', wanted));
        const made = await personNamed(database, email);
        if (options.json) return printJson(presentUser(made));
        print(`${made.email} can sign in as ${made.role}.`);
      }),
    );
}

function addInvite(user: Command): void {
  withUserOptions(user.command('invite').description('create a user, and a link to set a password')).action(
    (email: string, options: PersonOptions) =>
      withStore(options, async ({ database }) => {
        const wanted = await personOf(database, email, options);
        printLink(options, email, await asCommandError(invitePerson(database, 'command', wanted)));
      }),
  );
}

function addReset(user: Command): void {
  user
    .command('reset')
    .description('create a link to set a new password; the old one works until then')
    .argument('<email>', 'who')
    .onStore()
    .action((email: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const person = await personNamed(database, email);
        if (person.status === 'disabled') throw new CommandError(`${person.email} is disabled.`);
        printLink(options, email, await linkFor(database, 'command', person));
      }),
    );
}

function addPassword(user: Command): void {
  user
    .command('password')
    .description('set a user’s password and end all their sessions')
    .argument('<email>', 'who')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .onStore()
    .action((email: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const password = await readPassword();
        await asCommandError(setPassword(database, 'command', await personNamed(database, email), password));
        const person = await personNamed(database, email);
        if (options.json) return printJson(presentUser(person));
        print(`The password of ${person.email} is set.`);
      }),
    );
}

function addResetSecondFactor(user: Command): void {
  user
    .command('reset-second-factor')
    .description('remove the second factor of a user who lost their device, and end their sessions')
    .argument('<email>', 'who')
    .onStore()
    .action((email: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        if (!(await removeSecondFactor(database, 'command', before))) {
          throw new CommandError(`${before.email} has no second factor.`);
        }
        const person = await personNamed(database, email);
        if (options.json) return printJson(presentUser(person));
        print(`${person.email} can sign in with the password alone.`);
      }),
    );
}

function addUnlink(user: Command): void {
  user
    .command('unlink')
    .description('remove the link between a user and the sign-in provider, and end their sessions')
    .argument('<email>', 'who')
    .onStore()
    .action((email: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        if (!(await unlinkUser(database, 'command', before))) {
          throw new CommandError(`${before.email} has never signed in with the provider.`);
        }
        const person = await personNamed(database, email);
        if (options.json) return printJson(presentUser(person));
        print(`The next sign-in with the verified e-mail address ${person.email} links the user again.`);
      }),
    );
}

function addRename(user: Command): void {
  user
    .command('rename')
    .description('give a user another e-mail address, and end their sessions and links')
    .argument('<email>', 'who')
    .argument('<new-email>', 'the new e-mail address')
    .onStore()
    .action((email: string, written: string, options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        await asCommandError(renamePerson(database, 'command', before, written));
        const person = await personNamed(database, written);
        if (options.json) return printJson(presentUser(person));
        print(`${before.email} is now ${person.email}.`);
      }),
    );
}

function addList(user: Command): void {
  user
    .command('list')
    .description('everybody')
    .onStore()
    .action((options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const people = await listPeople(database);
        if (options.json) return printJson({ users: people.map(presentUser) });
        printTable(COLUMNS, people.map(cells), 'There are no users.');
      }),
    );
}

function addEnableAndDisable(user: Command): void {
  for (const [name, disabled, description] of [
    ['disable', true, 'block a user and end their sessions'],
    ['enable', false, 'unblock a user'],
  ] as const) {
    const command = user.command(name).description(description).argument('<email>', 'who');
    if (disabled) command.option('--revoke-keys', 'also revoke the keys that they created', false);
    command
      .onStore()
      .action((email: string, { revokeKeys, ...options }: StoreOptions & { revokeKeys?: boolean }) =>
        withStore(options, async ({ database }) => {
          await setDisabled(database, 'command', await personNamed(database, email), disabled, {
            revokeKeys,
          });
          const person = await personNamed(database, email);
          if (options.json) return printJson(presentUser(person));
          printPerson(person);
          if (disabled && person.keys.length > 0) {
            const keys = person.keys.map(({ key_id, name, username }) => `${key_id} (${name}, ${username})`);
            say(
              `Keys that they created are still valid: ${keys.join(', ')}. Revoke them with --revoke-keys.`,
            );
          }
        }),
      );
  }
}

function addOwner(user: Command): void {
  user
    .command('owner')
    .description('make a customer an owner of their account, who decides on retention, export and erasure')
    .argument('<email>', 'who')
    .option('--remove', 'remove the ownership; not for the last owner who can sign in', false)
    .onStore()
    .action((email: string, options: StoreOptions & { remove: boolean }) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        const { account } = before;
        if (account === undefined) throw new CommandError(`${before.email} belongs to no account.`);
        await asCommandError(setOwner(database, 'command', account.ref, before, !options.remove));
        const person = await personNamed(database, email);
        if (options.json) return printJson(presentUser(person));
        printPerson(person);
      }),
    );
}

function addLanguages(user: Command): void {
  user
    .command('languages')
    .description('replace the language pairs that a user edits; without options, show the user')
    .argument('<email>', 'who')
    .addOption(languages())
    .addOption(review())
    .addOption(share())
    .option('--none', 'they edit no language pair')
    .onStore()
    .action((email: string, options: StoreOptions & Omit<PersonOptions, 'role'> & { none?: boolean }) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        const { role } = before;
        if (options.none === true && options.language !== undefined) {
          throw new CommandError('Give --language or --none, not both.');
        }
        if (options.review === true && options.language === undefined) {
          throw new CommandError('--review goes with --language.');
        }
        if (role === 'customer' && options.language !== undefined) {
          throw new CommandError('A customer edits no languages.');
        }
        if (options.none === true) await setLanguages(database, 'command', before, []);
        if (options.language !== undefined)
          await setLanguages(database, 'command', before, languagesOf(options));
        if (options.reviewShare !== undefined)
          await setReviewShare(database, 'command', before, options.reviewShare);
        const person = await personNamed(database, email);
        if (options.json) return printJson(presentUser(person));
        printPerson(person);
      }),
    );
}

async function personOf(database: Database, email: string, options: PersonOptions) {
  const { role, name, account: username, reviewShare } = options;
  if ((role === 'customer') !== (username !== undefined)) {
    throw new CommandError('Give --account for a customer, and only for a customer.');
  }
  if (options.review === true && options.language === undefined) {
    throw new CommandError('--review goes with --language.');
  }
  const account = username === undefined ? undefined : (await accountNamed(database, username)).ref;
  return { email, name, role, account, languages: languagesOf(options), reviewShare };
}

function languagesOf({ language = [], review = false }: Pick<PersonOptions, 'language' | 'review'>) {
  const once = new Map(language.map((one) => [`${one.source_language}:${one.target_language}`, one]));
  return [...once.values()].map((one) => ({ ...one, review }));
}

/** Turns a validation error into an error of the command. */
async function asCommandError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if ((error as { code?: string }).code !== 'invalid_request') throw error;
    throw new CommandError((error as Error).message);
  }
}

function printLink(options: StoreOptions, email: string, made: { token: string; expires_at: Date }): void {
  const link = invitationLink(addressForLinks(settingsWith(options)), made.token);
  if (options.json) printJson({ email, link, expires_at: made.expires_at });
  else {
    print(link);
    say(`The link works once, until ${made.expires_at.toISOString()}.`);
  }
}

function presentUser({ account, ...fields }: User): object {
  return { ...fields, ...(account === undefined ? {} : { account: account.username }) };
}

const COLUMNS = ['e-mail', 'role', 'status', 'name', 'account', 'languages', 'reviewed', 'last seen'];

function cells(person: User): string[] {
  const pairs = person.languages.map(
    ({ source_language, target_language, review }) =>
      `${source_language}:${target_language}${review ? ' (review)' : ''}`,
  );
  return [
    person.email,
    person.owner ? `${person.role}, owner` : person.role,
    person.status,
    person.name,
    person.account?.username ?? '-',
    pairs.join(', ') || '-',
    pairs.length === 0 ? '-' : `${person.review_share} %`,
    person.last_seen_at?.toISOString() ?? 'never',
  ];
}

const printPerson = (person: User): void => printTable(COLUMNS, [cells(person)], '');

function pair(written: string): Pair {
  const [, source, target] = /^([a-z]{2,3}(?:-[a-z0-9]+)?):([a-z]{2,3}(?:-[a-z0-9]+)?)$/.exec(written) ?? [];
  if (source === undefined || target === undefined || source === target) {
    throw new InvalidArgumentError('It must be two languages, such as en:es.');
  }
  return { source_language: source, target_language: target };
}

function percent(written: string): number {
  if (!/^\d{1,3}$/.test(written) || Number(written) > 100) {
    throw new InvalidArgumentError('It must be a whole number from 0 to 100.');
  }
  return Number(written);
}

/** Reads standard input to its end, and removes the final line break. */
async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) say('Type the password, then Enter and Ctrl+D. It is shown while you type.');
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
