/**
 * A run at the tenant walls: a stranger calls every described operation, of both interfaces and of the web app, with
 * ids that are another account's. The answer must have the same bytes as for an id that nobody has. Editors, who work for
 * every account, ask for texts of a task that they do not hold (`editors.ts`).
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describeApp } from '../../packages/server/src/app.ts';
import type { OpenApi } from '../../packages/server/src/openapi.ts';
import { type Credentials, createAccount, startProgram } from '../../scripts/program.ts';
import { createRandom } from '../random.ts';
import { askAsEditors, MARKED_MEMORY, MARKED_TEXT, type Shown, TASK_WORDS } from './editors.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;
/** Stands in every text, name and id of the victim, so that a leak of any of them shows. */
export const CANARY = 'kanarienvogel';
const PASSWORD = 'a long and quiet password';

export interface TenantsOptions {
  directory: string;
  /** Pairs of calls: one with another's id, one with nobody's. */
  calls: number;
  seed: number;
  say(line: string): void;
}

export interface Answered {
  status: number;
  headers: [string, string][];
  text: string;
}

export interface TenantsHistory {
  calls: { asked: string; foreign: Answered; unknown: Answered }[];
  /** Lists and the like, asked with the victim's words: what answers had the canary in them. */
  lists: { asked: string; answer: Answered }[];
  operations: number;
  /** What editors were shown of a task that they do not hold. */
  shown: Shown[];
  /** What the victim reads of its own, before and after. */
  before: string[];
  after: string[];
}

interface Operation {
  method: string;
  path: string;
  /** Of the web app: needs a session. */
  web: boolean;
}

type Send = (method: string, path: string, body?: string) => Promise<Answered>;

export async function runTenants({ directory, calls, seed, say }: TenantsOptions): Promise<TenantsHistory> {
  const random = createRandom(seed);
  const pick = <T>(from: readonly T[]) => from[random.below(from.length)]!;
  const environment = {
    DRAGOMAN_SANDBOX_HOLD: '0',
    DRAGOMAN_LOG_LEVEL: 'silent',
    DRAGOMAN_TASK_WORDS: TASK_WORDS,
  };
  const program = await startProgram({ directory, environment });
  const victim = await createAccount(directory, `${CANARY}-account`, 100_000, '--chat');
  const stranger = await createAccount(directory, 'stranger', 100_000, '--chat');
  const own = await fillVictim(program.url, directory, victim);
  const byKey = sender(program.url, { authorization: `ApiKey ${stranger.production_key}` });
  const people = {
    customer: await signedIn(program.url, directory, { role: 'customer' }, '--account', 'stranger'),
    editor: await signedIn(program.url, directory, { role: 'editor' }, '--language', 'en:es'),
  };
  const leaving = await signedIn(
    ...([program.url, directory, { role: 'editor', name: 'leaving' }] as const),
    ...['--language', 'en:es'],
  );
  const operations = await readOperations();
  const withIds = operations.filter(({ path }) => path.includes('{'));
  const lists = operations.filter(({ path, method }) => method === 'GET' && !path.includes('{'));
  const history: TenantsHistory = {
    ...{ calls: [], lists: [], operations: withIds.length },
    shown: await askAsEditors({
      ...{ asking: people.editor, leaving },
      takeLanguages: async () =>
        void (await command(directory, 'user', 'languages', emailOf('leaving'), '--none')),
      operations: operations.filter(({ path }) => path.startsWith('/api/editing/tasks/')),
    }),
    ...{ before: await own.read(), after: [] },
  };
  for (let n = 0; n < calls; n++) {
    const { method, path, web } = pick(withIds);
    // An editor works for every account; what is an operator's or a customer's is shut to them.
    const role = path.startsWith('/api/console/') && random.below(2) === 0 ? 'editor' : 'customer';
    const send = web ? people[role] : byKey;
    const body = method === 'GET' || method === 'DELETE' ? undefined : pick(BODIES);
    const ids = own.ids;
    const at = (ids: (name: string) => string) => path.replace(/\{(\w+)\}/g, (_, name) => ids(name));
    const foreign = at((name) => encodeURIComponent(pick(ids[name] ?? ids.any!)));
    const unknown = at((name) => (/uid/.test(name) ? 'nobody-has-this' : NOBODY));
    const asked = `${method} ${foreign} as ${web ? role : 'key'}`;
    history.calls.push({
      asked,
      foreign: await send(method, foreign, body),
      unknown: await send(method, unknown, body),
    });
    if (n % 5 === 0) {
      const list = pick(lists);
      const query = `?${pick(QUERIES)}=${encodeURIComponent(pick(own.ids.any!))}`;
      const answer = await (list.web ? people.customer : byKey)('GET', list.path + query);
      history.lists.push({ asked: `GET ${list.path}${query}`, answer });
    }
    if ((n + 1) % 1_000 === 0) say(`${n + 1} pairs of calls`);
  }
  history.after = await own.read();
  await program.stop();
  return history;
}

const NOBODY = '00000000-0000-7000-8000-000000000000';
const BODIES = ['{}', '{"status":"upgrade","properties":null}', '{"reason":"x","hours":1,"password":"x"}'];
const QUERIES = [
  'uid',
  'uid__contains',
  'uid__startswith',
  'q',
  'search',
  'job_id',
  'account',
  'chat_id',
  'after',
];

async function readOperations(): Promise<Operation[]> {
  const documents: [boolean, OpenApi][] = [
    [false, await describeApp()],
    [true, await describeApp('web')],
  ];
  return documents.flatMap(([web, { paths }]) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path, web })),
    ),
  );
}

/** Something of every kind that has an id. @returns the ids by the names of parameters, and a reading of it all */
async function fillVictim(url: string, directory: string, victim: Credentials) {
  const send = sender(url, { authorization: `ApiKey ${victim.production_key}` });
  const job = (uid: string) => ({
    uid,
    text: `The ${CANARY} is big.`,
    source_language: 'en',
    target_language: 'es',
    callback_url: 'http://127.0.0.1:9/',
  });
  const post = async (path: string, body: object) => {
    const { status, text } = await send('POST', path, JSON.stringify(body));
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text);
  };
  const [human, machine] = [`${CANARY}-human`, `${CANARY}-machine`];
  await post('/tapi/v2/translation/', job(human));
  const marked = `${CANARY}-marked`;
  await post('/tapi/v2/translation/', { ...job(marked), text: MARKED_TEXT });
  await post('/tapi/v2/mt_translation/', job(machine));
  const { chat, message } = await post('/v2/chats/messages', {
    ...{ chat_external_id: `${CANARY}-chat`, external_id: 'm1', text: `The ${CANARY} sings.` },
    ...{ text_format: 'text', source_language: 'en', target_language: 'es' },
  });
  const { id: delivery } = await post('/api/v1/test-event/', { url: 'http://127.0.0.1:9/' });
  const tmx = join(directory, 'memory.tmx');
  writeFileSync(tmx, TMX);
  await command(directory, 'memory', 'import', victim.username, tmx, '--from', 'en', '--to', 'es');
  for (;;) {
    const { text } = await send('GET', `/tapi/v2/mt_translation/${machine}/`);
    if (JSON.parse(text).status === 'completed') break;
    await wait(20);
  }
  for (;;) {
    const { text } = await send('GET', `/tapi/v2/translation/${marked}/`);
    if (JSON.parse(text).status === 'translating') break;
    await wait(20);
  }
  const { keys } = JSON.parse(await command(directory, 'key', 'list', victim.username, '--json'));
  const ids: Record<string, string[]> = {
    uid: [human, machine],
    job: [human, machine],
    chat_id: [chat.id],
    message_id: [message.id],
    delivery_id: [delivery],
    delivery: [delivery],
    username: [victim.username],
    key: keys.map((key: { key_id: string }) => key.key_id),
  };
  ids.any = [...new Set(Object.values(ids).flat())];
  const paths = [
    '/tapi/v2/translation/',
    '/tapi/v2/mt_translation/',
    `/tapi/v2/translation/${human}/`,
    `/tapi/v2/mt_translation/${machine}/`,
    `/chats/${chat.id}/messages`,
    '/tapi/v2/account/',
  ];
  return {
    ids,
    read: () => Promise.all(paths.map(async (path) => (await send('GET', path)).text)),
  };
}

const TMX = `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header creationtool="test" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en" datatype="plaintext"/>
<body><tu><tuv xml:lang="en"><seg>The ${CANARY} flies.</seg></tuv><tuv xml:lang="es"><seg>El ${CANARY} vuela.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>${MARKED_MEMORY}</seg></tuv><tuv xml:lang="es"><seg>${MARKED_MEMORY}</seg></tuv></tu></body></tmx>
`;

function sender(url: string, headers: Record<string, string>): Send {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: [...response.headers], text: await response.text() };
  };
}

const emailOf = (name: string) => `${name}@example.com`;

/** Makes a person, whose name is the role where none is given. */
async function signedIn(
  url: string,
  directory: string,
  { role, name = role }: { role: string; name?: string },
  ...options: string[]
): Promise<Send> {
  const email = emailOf(name);
  await command(directory, 'user', 'create', email, '--role', role, ...options, '--password-stdin');
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  if (response.status >= 300) throw new Error(`signing in answered ${response.status}`);
  const cookie = response.headers.getSetCookie().map((one) => one.split(';')[0]!);
  return sender(url, { cookie: cookie.join('; '), 'sec-fetch-site': 'same-origin' });
}

async function command(directory: string, ...args: string[]): Promise<string> {
  const running = promisify(execFile)(process.execPath, [MAIN, ...args, '--data', directory]);
  running.child.stdin?.end(PASSWORD);
  return (await running).stdout;
}
