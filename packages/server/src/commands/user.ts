/** `dragoman user`: the people who sign in, as the operator keeps them. */
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PersonRole } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import {
  createPerson,
  type EditorLanguage,
  invitationLink,
  invitePerson,
  linkFor,
  listPeople,
  personNamed,
  ROLES,
  setDisabled,
  setLanguages,
  setOwner,
  setPassword,
  setReviewShare,
  type User,
} from '../accounts/people.ts';
import type { Database } from '../database/database.ts';
import { publicRoot } from '../settings.ts';
import { data, json, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, say } from './output.ts';

interface Options {
  data?: string;
  json?: boolean;
}

interface PersonOptions extends Options {
  role: PersonRole;
  name?: string;
  account?: string;
  language?: Pair[];
  review?: boolean;
  reviewShare?: number;
}

type Pair = Pick<EditorLanguage, 'source_language' | 'target_language'>;

const languages = () =>
  new Option('--language <pairs...>', 'what they edit, such as en:es de:es').argParser(
    (written: string, before: Pair[] | undefined) => [...(before ?? []), pair(written)],
  );
const review = () => new Option('--review', 'they may review these languages too');
const share = () =>
  new Option('--review-share <percent>', 'how much of what they edit is reviewed (100)').argParser(percent);

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('people who sign in');

  const withPerson = (command: Command) =>
    command
      .argument('<email>', 'what they sign in with')
      .addOption(new Option('--role <role>', 'what they are').choices([...ROLES]).makeOptionMandatory())
      .option('--name <name>', 'how they are called; the beginning of the e-mail otherwise')
      .option('--account <username>', 'a customer’s account')
      .addOption(languages())
      .addOption(review())
      .addOption(share())
      .addOption(data())
      .addOption(json());

  withPerson(user.command('create').description('make a person with a password'))
    .requiredOption('--password-stdin', 'the password is read from standard input')
    .action((email: string, options: PersonOptions) =>
      withStore(options, async ({ database }) => {
        const password = (await text(process.stdin)).replace(/\r?\n$/, '');
        const wanted = { ...(await personOf(database, email, options)), password };
        await expected(createPerson(database, 'command', wanted));
        const made = await personNamed(database, email);
        if (options.json) return printJson(shown(made));
        print(`${made.email} may sign in as ${made.role}.`);
      }),
    );

  withPerson(
    user.command('invite').description('make a person and the link by which they choose a password'),
  ).action((email: string, options: PersonOptions) =>
    withStore(options, async ({ database }) => {
      const wanted = await personOf(database, email, options);
      printLink(options, email, await expected(invitePerson(database, 'command', wanted)));
    }),
  );

  user
    .command('reset')
    .description('make a link by which a person chooses another password; theirs opens until then')
    .argument('<email>', 'who')
    .addOption(data())
    .addOption(json())
    .action((email: string, options: Options) =>
      withStore(options, async ({ database }) => {
        const person = await personNamed(database, email);
        if (person.status === 'disabled') throw new CommandError(`${person.email} is disabled.`);
        printLink(options, email, await linkFor(database, 'command', person));
      }),
    );

  user
    .command('password')
    .description('set a person’s password; they are signed out everywhere')
    .argument('<email>', 'who')
    .requiredOption('--password-stdin', 'the password is read from standard input')
    .addOption(data())
    .addOption(json())
    .action((email: string, options: Options) =>
      withStore(options, async ({ database }) => {
        const password = (await text(process.stdin)).replace(/\r?\n$/, '');
        await expected(setPassword(database, 'command', await personNamed(database, email), password));
        const person = await personNamed(database, email);
        if (options.json) return printJson(shown(person));
        print(`${person.email} has another password.`);
      }),
    );

  user
    .command('list')
    .description('everybody')
    .addOption(data())
    .addOption(json())
    .action((options: Options) =>
      withStore(options, async ({ database }) => {
        const people = await listPeople(database);
        if (options.json) return printJson({ users: people.map(shown) });
        for (const person of people) print(line(person));
      }),
    );

  for (const [name, disabled, description] of [
    ['disable', true, 'let a person in no more; their sessions end'],
    ['enable', false, 'let a person in again'],
  ] as const) {
    const command = user.command(name).description(description).argument('<email>', 'who');
    if (disabled) command.option('--revoke-keys', 'the keys that they made end too', false);
    command
      .addOption(data())
      .addOption(json())
      .action((email: string, { revokeKeys, ...options }: Options & { revokeKeys?: boolean }) =>
        withStore(options, async ({ database }) => {
          await setDisabled(database, 'command', await personNamed(database, email), disabled, {
            revokeKeys,
          });
          const person = await personNamed(database, email);
          if (options.json) return printJson(shown(person));
          print(line(person));
          if (disabled && person.keys.length > 0) {
            const keys = person.keys.map(({ key_id, name, username }) => `${key_id} (${name}, ${username})`);
            say(`Keys that they made still open: ${keys.join(', ')}. End them with --revoke-keys.`);
          }
        }),
      );
  }

  user
    .command('owner')
    .description('let a customer decide about their account: what is kept of it, and when it ends')
    .argument('<email>', 'who')
    .option('--remove', 'no more; not for the last one who can sign in', false)
    .addOption(data())
    .addOption(json())
    .action((email: string, options: Options & { remove: boolean }) =>
      withStore(options, async ({ database }) => {
        const before = await personNamed(database, email);
        const { account } = before;
        if (account === undefined) throw new CommandError(`${before.email} belongs to no account.`);
        await expected(setOwner(database, 'command', account.ref, before, !options.remove));
        const person = await personNamed(database, email);
        if (options.json) return printJson(shown(person));
        print(line(person));
      }),
    );

  user
    .command('languages')
    .description('put these in the place of what a person edits; without options, show it')
    .argument('<email>', 'who')
    .addOption(languages())
    .addOption(review())
    .addOption(share())
    .option('--none', 'they edit nothing')
    .addOption(data())
    .addOption(json())
    .action((email: string, options: Options & Omit<PersonOptions, 'role'> & { none?: boolean }) =>
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
          throw new CommandError('Only those who edit have languages.');
        }
        if (options.none === true) await setLanguages(database, 'command', before, []);
        if (options.language !== undefined)
          await setLanguages(database, 'command', before, languagesOf(options));
        if (options.reviewShare !== undefined)
          await setReviewShare(database, 'command', before, options.reviewShare);
        const person = await personNamed(database, email);
        if (options.json) return printJson(shown(person));
        print(line(person));
      }),
    );
}

async function personOf(database: Database, email: string, options: PersonOptions) {
  const { role, name, account: username, reviewShare } = options;
  if ((role === 'customer') !== (username !== undefined)) {
    throw new CommandError('A customer belongs to an account (--account), and nobody else does.');
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

/** A refusal of what was given is the caller's mistake, not a fault. */
async function expected<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if ((error as { code?: string }).code !== 'invalid_request') throw error;
    throw new CommandError((error as Error).message);
  }
}

function printLink(options: Options, email: string, made: { token: string; expires_at: Date }): void {
  const link = invitationLink(publicRoot(settingsWith(options)), made.token);
  if (options.json) printJson({ email, link, expires_at: made.expires_at });
  else {
    print(link);
    say(`It opens once, until ${made.expires_at.toISOString()}.`);
  }
}

function shown({ account, ...fields }: User): object {
  return { ...fields, ...(account === undefined ? {} : { account: account.username }) };
}

function line(person: User): string {
  const pairs = person.languages.map(
    ({ source_language, target_language, review }) =>
      `${source_language}:${target_language}${review ? ' (review)' : ''}`,
  );
  const seen = person.last_seen_at?.toISOString().slice(0, 16) ?? 'never';
  return [
    person.email,
    person.role.padEnd(8),
    person.status.padEnd(8),
    person.name,
    ...(person.account === undefined ? [] : [person.account.username]),
    ...(pairs.length === 0 ? [] : [pairs.join(', ')]),
    ...(person.review_share === 100 ? [] : [`${person.review_share} % reviewed`]),
    `seen ${seen}`,
  ].join('  ');
}

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
