/**
 * The scenario of tenant isolation: a user of another account calls every documented operation, of the API and of the
 * web app, with ids that belong to the victim's account. The response must have the same bytes as for an id that does
 * not exist. Editors, who work for every account, request texts of a task that they have not claimed (`editors.ts`).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { OpenApi } from '../../packages/server/src/http/openapi.ts';
import { describeApp } from '../../packages/server/src/roles/app.ts';
import { type Credentials, createAccount, runCommand } from '../../scripts/program.ts';
import { createRandom } from '../harness/random.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import { createUser, SAME_ORIGIN, signIn } from '../harness/users.ts';
import { askAsEditors, MARKED_MEMORY, MARKED_TEXT, type Shown, TASK_WORDS } from './editors.ts';

/** A word in every text, name and id of the victim. If a response contains it, the victim's data has leaked. */
export const CANARY = 'kanarienvogel';

export interface TenantsOptions extends RunOptions {
  /** The number of pairs of calls: one with an id of the victim, one with an id that does not exist. */
  calls: number;
}

export interface Answered {
  status: number;
  headers: [string, string][];
  text: string;
}

export interface TenantsHistory {
  calls: { asked: string; foreign: Answered; unknown: Answered }[];
  /** Lists that were requested with words of the victim. */
  lists: { asked: string; answer: Answered }[];
  operations: number;
  /** The texts that editors received from a task that they have not claimed. */
  shown: Shown[];
  /** The victim's own responses before and after the calls of the other account. */
  before: string[];
  after: string[];
}

interface Operation {
  method: string;
  path: string;
  /** True if the operation belongs to the web app and needs a session. */
  web: boolean;
}

type Send = (method: string, path: string, body?: string) => Promise<Answered>;

export async function runTenants({ directory, calls, seed, say }: TenantsOptions): Promise<TenantsHistory> {
  const random = createRandom(seed);
  const pick = <T>(from: readonly T[]) => from[random.below(from.length)]!;
  const service = await startService(directory, {
    DRAGOMAN_SANDBOX_HOLD: '0',
    DRAGOMAN_LOG_LEVEL: 'silent',
    DRAGOMAN_TASK_WORDS: TASK_WORDS,
  });
  const { url } = service;
  const victim = await createAccount(directory, `${CANARY}-account`, 100_000, { chat: true });
  const stranger = await createAccount(directory, 'stranger', 100_000, { chat: true });
  const own = await fillVictim(url, directory, victim);
  const byKey = sender(url, { authorization: `ApiKey ${stranger.production_key}` });
  const user = async (email: string, role: string, ...options: string[]) => {
    await createUser(directory, email, role, ...options);
    return sender(url, { cookie: await signIn(url, email), ...SAME_ORIGIN });
  };
  const users = {
    customer: await user('customer@example.com', 'customer', '--account', 'stranger'),
    editor: await user('editor@example.com', 'editor', '--language', 'en:es'),
  };
  const leaving = await user('leaving@example.com', 'editor', '--language', 'en:es');
  const operations = await readOperations();
  const withIds = operations.filter(({ path }) => path.includes('{'));
  const lists = operations.filter(({ path, method }) => method === 'GET' && !path.includes('{'));
  const history: TenantsHistory = {
    calls: [],
    lists: [],
    operations: withIds.length,
    shown: await askAsEditors({
      asking: users.editor,
      leaving,
      takeLanguages: async () =>
        void (await runCommand(directory, 'user', 'languages', 'leaving@example.com', '--none')),
      operations: operations.filter(({ path }) => path.startsWith('/api/editing/tasks/')),
    }),
    before: await own.read(),
    after: [],
  };
  for (let n = 0; n < calls; n++) {
    const { method, path, web } = pick(withIds);
    // Half of the calls to the console are made by an editor, who is forbidden to call the operations of
    // operators and customers too.
    const role = path.startsWith('/api/console/') && random.below(2) === 0 ? 'editor' : 'customer';
    const send = web ? users[role] : byKey;
    const body = method === 'GET' || method === 'DELETE' ? undefined : pick(BODIES);
    const ids = own.ids;
    const at = (ids: (name: string) => string) => path.replace(/\{(\w+)\}/g, (_, name) => ids(name));
    const picked = new Map<string, string>();
    const foreign = at((name) => {
      picked.set(name, pick(ids[name] ?? ids.any!));
      return encodeURIComponent(picked.get(name)!);
    });
    const unknown = at((name) => unknownLike(picked.get(name)!));
    const asked = `${method} ${foreign} as ${web ? role : 'key'}`;
    history.calls.push({
      asked,
      foreign: await send(method, foreign, body),
      unknown: await send(method, unknown, body),
    });
    if (n % 5 === 0) {
      const list = pick(lists);
      const query = `?${pick(QUERIES)}=${encodeURIComponent(pick(own.ids.any!))}`;
      const answer = await (list.web ? users.customer : byKey)('GET', list.path + query);
      history.lists.push({ asked: `GET ${list.path}${query}`, answer });
    }
    if ((n + 1) % 1_000 === 0) say(`${n + 1} pairs of calls`);
  }
  history.after = await own.read();
  await service.stop();
  return history;
}

const NOBODY = '00000000-0000-7000-8000-000000000000';

/**
 * Returns an id that does not exist but has the form of an existing id. An id of another form would be refused before
 * any look-up.
 */
const unknownLike = (id: string): string =>
  /^[0-9a-f]{8}-/.test(id) ? NOBODY : /^[0-9a-f]{8}$/.test(id) ? 'ffffffff' : 'nobody-has-this';
const BODIES = ['{}', '{"status":"upgrade","properties":null}', '{"reason":"x","hours":1,"password":"x"}'];
const QUERIES = 'uid uid__contains uid__startswith q search job_id account chat_id after'.split(' ');

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

/**
 * Creates one object of every kind that has an id.
 *
 * @returns the ids by the names of path parameters, and a function that reads everything
 */
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
    chat_external_id: `${CANARY}-chat`,
    external_id: 'm1',
    text: `The ${CANARY} sings.`,
    text_format: 'text',
    source_language: 'en',
    target_language: 'es',
  });
  const { id: delivery } = await post('/api/v1/test-event/', { url: 'http://127.0.0.1:9/' });
  const tmx = join(directory, 'memory.tmx');
  writeFileSync(tmx, TMX);
  await runCommand(directory, 'memory', 'import', victim.username, tmx, '--from', 'en', '--to', 'es');
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
  const { keys } = JSON.parse(await runCommand(directory, 'key', 'list', victim.username, '--json'));
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
