/**
 * Checks that every command that changes data writes an audit entry with the name of the user who ran it.
 * Exceptions are listed here with their reasons. The test fails for a command that is neither tested nor
 * exempt.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../main.ts';
import { claimTask, confirmAll, disagree, editNext, HUMAN, orderEdit } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  SECRET_KEY,
  startReceiver,
  startTestServer,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';
import { dragoman, dragomanProcess, urlOf } from '../testing/programs.ts';
import { setUpSecondFactor } from '../testing/second-factor.ts';

const READS = 'changes nothing';
const MACHINE = 'changes files of this machine, not the database';

const NOT: Record<string, string> = {
  serve: 'the program itself',
  demo: 'the program itself, with the entries of account create and user create',
  migrate: 'changes the schema, which the table of migrations records',
  restore: 'restores a database with its audit entries',
  doctor: READS,
  settings: READS,
  translate: READS,
  mcp: 'calls the API of a server',
  'brand list': READS,
  'brand export': READS,
  'delivery list': READS,
  'delivery show': READS,
  'key list': READS,
  'ledger verify': READS,
  'ledger statement': READS,
  'account list': READS,
  'memory list': READS,
  'memory search': READS,
  'memory export': READS,
  'pair list': READS,
  'route list': READS,
  'task list': READS,
  'user list': READS,
  'rule list': READS,
  'vote list': READS,
  'engine compare': READS,
  'engine install': MACHINE,
  'model list': READS,
  'model mirror': MACHINE,
  'model pull': MACHINE,
  'model seal': MACHINE,
};

const directory = mkdtempSync(join(tmpdir(), 'dragoman-audited-'));
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
const BRAND = { external_id: 'shop', name: 'Shop', languages: { es: { tone: 'Formal' } } };
const SEGMENTS = [
  '<tuv xml:lang="en"><seg>House.</seg></tuv>',
  '<tuv xml:lang="es"><seg>Casa.</seg></tuv>',
].join('');
const TMX = `<?xml version="1.0"?><tmx version="1.4"><header/><body><tu>${SEGMENTS}</tu></body></tmx>`;

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let username: string;
let place: Record<string, string>;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer();
  place = { DATABASE_URL: urlOf(server.connection), DRAGOMAN_DATA: directory };
  owner = await server.connectOwner();
  const account = await server.createAccount({ balanceCents: 10_000 });
  username = account.username;
  call = createClient(server.url, account.production_key);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<string> {
  const ended = await dragoman(args, place);
  expect(ended.status, ended.stderr).toBe(0);
  return ended.stdout;
}
const read = async (...args: string[]) => JSON.parse(await run(...args, '--json'));
const one = async (sql: string) => (await owner.query(sql)).rows[0];
let emails = 0;
async function person(): Promise<string> {
  const email = `person-${++emails}@example.com`;
  await run('user', 'invite', email, '--role', 'editor');
  return email;
}
const key = async () =>
  (await read('key', 'create', username, '--environment', 'sandbox', '--name', 'x')).key_id as string;
async function entry(): Promise<string> {
  await run('memory', 'import', username, file('memory.tmx', TMX), '--from', 'en', '--to', 'es');
  const { entries } = await read('memory', 'search', username, '--state', 'all');
  return entries.find(({ source }: { source: string }) => source === 'House.').memory_id;
}
async function refundable(): Promise<string> {
  const ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
  const uid = await orderEdit(call, 'One house.\n');
  await editNext(ann);
  await waitForStatus(call, `${HUMAN}${uid}/`);
  return uid;
}
let disputes = 0;
/** Has two editors disagree. */
async function disputed() {
  const editors = [0, 1].map(() => createPerson(server, { role: 'editor', languages: ['en:es'] }));
  const people = await Promise.all(editors);
  await owner.query('update users set review_share = 0');
  const operator = await createPerson(server, { role: 'operator' });
  const list = `/api/console/accounts/${username}/disagreements`;
  return disagree(call, people, operator, list, `House number ${++disputes} of two editors.`);
}
async function task(): Promise<string> {
  await orderEdit(call, 'Two houses.\n');
  return (await one(`select task_id from tasks where status = 'open'`)).task_id;
}
async function delivered(): Promise<string> {
  const { body } = await call('POST', '/api/v1/test-event/', { url: `${receiver.url}/` });
  await waitForStatus(call, `/api/v1/deliveries/${body.id}/`, 'delivered');
  return body.id;
}
const PRICE = ['pair', 'price', 'en', 'es', '--tier', 'machine'];
const ROUTE = ['--from', 'cy', '--to', 'br'];
const secretly = async (...args: string[]) => {
  const ended = await dragomanProcess([...args, '--password-stdin'], place, 'a password of theirs\n');
  expect(ended.status, ended.stderr).toBe(0);
};

/**
 * The commands in the order in which they run: the expected audit action, and a function that runs the
 * command.
 */
const AUDITED: Record<string, [action: string, run: () => Promise<unknown>]> = {
  'account create': ['account.created', () => run('account', 'create', 'made')],
  'account set': ['account.changed', () => run('account', 'set', username, '--chat-correction', 'on')],
  'account suspend': ['account.suspended', () => run('account', 'suspend', 'made')],
  'account resume': ['account.resumed', () => run('account', 'resume', 'made')],
  'account top-up': ['money.top_up', () => run('account', 'top-up', username, '5')],
  'account keep': ['account.keeping', () => run('account', 'keep', 'made', '--texts', '90')],
  'account export': [
    'account.exported',
    () => run('account', 'export', 'made', join(directory, 'made.jsonl')),
  ],
  'account erase': ['account.erased', () => run('account', 'erase', 'made', '--yes')],
  'brand import': [
    'brand.published',
    () => run('brand', 'import', username, file('shop.json', JSON.stringify(BRAND))),
  ],
  'glossary import': [
    'brand.published',
    () => run('glossary', 'import', username, 'shop', 'es', file('terms.csv', 'source,target\nhouse,casa\n')),
  ],
  'brand remove': ['brand.removed', () => run('brand', 'remove', username, 'shop')],
  'chat subscribe': ['account.changed', () => run('chat', 'subscribe', username, '--pairs', 'en-es')],
  'chat unsubscribe': ['account.changed', () => run('chat', 'unsubscribe', username)],
  'delivery replay': ['delivery.replayed', async () => run('delivery', 'replay', await delivered())],
  'key create': ['key.made', key],
  'key roll': ['key.rolled', async () => run('key', 'roll', username, await key())],
  'key revoke': ['key.revoked', async () => run('key', 'revoke', username, await key())],
  'secret-key rotate': [
    'secret_key.rotated',
    async () => {
      await owner.query('delete from secret_key_mark');
      await owner.query('delete from webhook_secrets');
      const keys = {
        DRAGOMAN_SECRET_KEY: randomBytes(32).toString('base64'),
        DRAGOMAN_SECRET_KEY_PREVIOUS: SECRET_KEY,
      };
      return dragoman(['secret-key', 'rotate'], { ...place, ...keys });
    },
  ],
  'secret-key replace': [
    'secret_key.replaced',
    async () => {
      await owner.query('delete from secret_key_mark');
      return run('secret-key', 'replace', '--yes');
    },
  ],
  'webhook-secret roll': [
    'webhook_secret.rolled',
    () => run('webhook-secret', 'roll', username, '--environment', 'sandbox'),
  ],
  'ledger adjust': ['money.adjustment', () => run('ledger', 'adjust', username, '3', '--memo', 'a present')],
  'ledger refund': [
    'money.refund',
    async () => run('ledger', 'refund', username, await refundable(), '--memo', 'a pity'),
  ],
  'memory import': ['memory.imported', entry],
  'memory withdraw': [
    'memory.withdrawn',
    async () => run('memory', 'withdraw', username, await entry(), '--reason', 'a typo'),
  ],
  'pair disable': ['pair.disabled', () => run('pair', 'disable', 'en', 'cy')],
  'pair enable': ['pair.enabled', () => run('pair', 'enable', 'en', 'cy')],
  'pair price': ['price.set', () => run(...PRICE, '--cents', '3')],
  'route set': ['route.set', () => run('route', 'set', ...ROUTE, 'apertium')],
  'route remove': ['route.removed', () => run('route', 'remove', ...ROUTE)],
  'task release': ['task.released', async () => run('task', 'release', await task())],
  'user create': ['person.made', () => secretly('user', 'create', 'made@example.com', '--role', 'editor')],
  'user invite': ['person.link', person],
  'user reset': ['person.link', async () => run('user', 'reset', await person())],
  'user password': ['person.password', async () => secretly('user', 'password', await person())],
  'user reset-second-factor': [
    'person.second_factor',
    async () => {
      const editor = await createPerson(server, { role: 'editor' });
      await setUpSecondFactor(server, editor);
      return run('user', 'reset-second-factor', editor.email);
    },
  ],
  'user unlink': [
    'person.unlinked',
    async () => {
      const email = await person();
      await owner.query(`update users set issuer = 'https://id.example.com', subject = $1 where email = $1`, [
        email,
      ]);
      return run('user', 'unlink', email);
    },
  ],
  'user rename': ['person.renamed', async () => run('user', 'rename', await person(), 'renamed@example.com')],
  'user disable': ['person.disabled', async () => run('user', 'disable', await person())],
  'user enable': [
    'person.enabled',
    async () => {
      const email = await person();
      await run('user', 'disable', email);
      return run('user', 'enable', email);
    },
  ],
  'user owner': [
    'person.owner',
    async () => {
      const account = await server.createAccount();
      // Creates a second customer of the account, because the first one is already an owner.
      await createPerson(server, { role: 'customer', account });
      const { email } = await createPerson(server, { role: 'customer', account });
      return run('user', 'owner', email);
    },
  ],
  'user languages': [
    'person.languages',
    async () => run('user', 'languages', await person(), '--language', 'en:es'),
  ],
  'rule make': [
    'rule.made',
    async () => {
      const { disagreement, texts } = await disputed();
      return run('rule', 'make', username, disagreement, texts[0]!.vote, texts[0]!.hash);
    },
  ],
  'rule end': [
    'rule.ended',
    async () => {
      const { disagreement, texts } = await disputed();
      await run('rule', 'make', username, disagreement, texts[1]!.vote, texts[1]!.hash);
      return run('rule', 'end', username, disagreement, texts[1]!.hash);
    },
  ],
  'vote undo': [
    'vote.undone',
    async () => {
      await orderEdit(call, 'A vote for one house.\n');
      const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
      await confirmAll(editor, await claimTask(editor));
      const { votes } = await read('vote', 'list', username, '--all');
      return run('vote', 'undo', username, votes[0].vote);
    },
  ],
  backup: ['database.backed_up', () => run('backup', join(directory, 'all.backup'))],
};

function leaves(command: Command, path: string[] = []): string[] {
  return command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
}

describe('the audit of commands', () => {
  it('is tested for every command', () => {
    expect(leaves(program).toSorted()).toEqual([...Object.keys(AUDITED), ...Object.keys(NOT)].toSorted());
  });

  it.each(Object.entries(AUDITED))('has an entry after dragoman %s', async (_, [action, work]) => {
    await work();
    const { rows } = await owner.query(
      'select action, actor, name, detail from audit order by audit_id desc limit 1',
    );
    expect(rows[0]).toMatchObject({ action, actor: 'command', name: userInfo().username });
    expect(JSON.stringify(rows[0])).not.toMatch(/dgm_|whsec_|One house|Casa\./);
  });

  it('has entries for all forms of a command, but none when a command changes nothing', async () => {
    const actions = async () =>
      (await owner.query('select action from audit order by audit_id')).rows.map(({ action }) => action);
    const before = (await actions()).length;
    await run(...PRICE, '--end');
    await run('memory', 'withdraw', username, await entry(), '--restore');
    const shop = file('shop.json', JSON.stringify(BRAND));
    await run('brand', 'import', username, shop);
    expect((await actions()).slice(before)).toEqual([
      'price.ended',
      'memory.imported',
      'memory.restored',
      'brand.published',
    ]);
    const then = (await actions()).length;
    await run('brand', 'import', username, shop);
    await run('brand', 'import', username, shop, '--dry-run');
    await run('delivery', 'replay', '--failed-since', '2020-01-01', '--account', username);
    await run('account', 'keep', username);
    await run('account', 'set', username);
    expect((await actions()).length).toBe(then);
  });
});
