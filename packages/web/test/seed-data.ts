/** Creates data of every kind, so that every page has something to show. */
import { accountNamed } from '../../server/src/access/accounts.ts';
import { invitePerson } from '../../server/src/access/invitations.ts';
import { parseBrand } from '../../server/src/brands/brand.ts';
import { saveBrand } from '../../server/src/brands/brands.ts';
import { claimTask, confirm, editNext, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import {
  type Answer,
  createBrowser,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  type TestPerson,
  until,
} from '../../server/src/testing/harness.ts';
import { startWeb, type Web } from './browser.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const PAIR = { source_language: 'en', target_language: 'es' };
const HTML =
  '<h1>Your order</h1><p>Hello {name}, your order has been <b>shipped</b>.</p><p>Best regards,</p>';
const LANGUAGES = {
  es: {
    tone: 'Formal',
    instructions: 'Address the customer formally.',
    glossary: [
      { source: 'backpack', target: 'mochila' },
      { source: 'Alpenglow', do_not_translate: true },
    ],
  },
};

export type Role = 'nobody' | 'customer' | 'editor' | 'reviewer' | 'operator';

export interface SeedData {
  web: Web;
  people: Record<Exclude<Role, 'nobody'>, TestPerson>;
  /** Returns the parameters for address patterns that a role can open. */
  parameters(role: Role): Record<string, readonly Record<string, string>[]>;
  stop(): Promise<void>;
}

export async function createSeedData(): Promise<SeedData> {
  const receiver = await startReceiver();
  receiver.answer(({ path }) => (path === '/gone' ? 410 : 200));
  const web = await startWeb({
    settings: {
      DRAGOMAN_SANDBOX_REQUESTS: 'operator',
      DRAGOMAN_CALLBACK_SCHEDULE: '3600',
      DRAGOMAN_EDITOR_TASKS: '5',
    },
  });
  const account = await web.createAccount({ username: 'acme', balanceCents: 100_000, chat: true });
  const languages = ['en:es+review'];
  const people = {
    customer: await createPerson(web, { role: 'customer', account, name: 'Carla' }),
    editor: await createPerson(web, { role: 'editor', languages, name: 'Ann' }),
    reviewer: await createPerson(web, { role: 'editor', languages, name: 'Bob' }),
    operator: await createPerson(web, { role: 'operator', name: 'Olga' }),
  };
  await writeBrand(web);
  const { delivery } = await callMachine(web, account.production_key, receiver);
  const tasks = await createTasks(web, account.production_key, people);
  const invited = { email: 'new@example.com', role: 'editor', languages: [] } as const;
  const invitation = await invitePerson(web.database, 'command', invited);
  const sandbox = await requestSandbox(web, people.operator);
  const { body } = await people.operator.call('GET', '/api/console/jobs?account=acme');
  const jobs = body.jobs as { job: string }[];
  return {
    web,
    people,
    parameters: (role) => ({
      '/tasks/$task': tasks[role === 'reviewer' ? 'reviewer' : 'editor'].map((task) => ({ task })),
      '/invitation/$token': [{ token: invitation.token }, { token: 'expired' }],
      '/sandbox/$token': [{ token: sandbox }, { token: 'expired' }],
      '/console/accounts/$username': [{ username: 'acme' }],
      '/console/accounts/$username/money': [{ username: 'acme' }],
      '/console/accounts/$username/votes': [{ username: 'acme' }],
      '/console/accounts/$username/brands': [{ username: 'acme' }],
      '/console/accounts/$username/brands/$brand': [{ username: 'acme', brand: 'acme/main' }],
      '/console/jobs/$username/$job': jobs.slice(0, 3).map(({ job }) => ({ username: 'acme', job })),
      '/console/deliveries/$delivery': [{ delivery }],
    }),
    async stop() {
      await web.stop();
      await receiver.close();
    },
  };
}

async function writeBrand(web: Web): Promise<void> {
  const { ref } = await accountNamed(web.database, 'acme');
  const brand = { external_id: 'acme/main', name: 'Acme', default: true, languages: LANGUAGES };
  await saveBrand(web.database, 'command', ref, parseBrand('acme/main', brand), false);
}

/** Creates machine jobs, one with a dead callback, and a chat. */
async function callMachine(web: Web, key: string, receiver: Receiver): Promise<{ delivery: string }> {
  const call = createClient(web.url, key);
  for (const [uid, path] of [
    ['order-1001', '/good'],
    ['order-1002', '/gone'],
  ]) {
    const callback_url = `${receiver.url}${path}`;
    expectSuccess(await call('POST', MACHINE, { ...PAIR, uid, text: 'The backpack is big.', callback_url }));
  }
  for (const [external_id, is_inbound] of [
    ['first', true],
    ['second', false],
  ]) {
    const text = 'Where is my order?';
    const message = { chat_external_id: 'talk', external_id, is_inbound, text, text_format: 'text' };
    expectSuccess(await call('POST', '/v2/chats/messages', { ...PAIR, ...message }));
  }
  const [dead] = await until(async () => {
    const { body } = await call('GET', '/api/v1/deliveries/?status=dead');
    return body.objects.length > 0 && (body.objects as { id: string }[]);
  });
  return { delivery: dead!.id };
}

/** Creates open, reviewed and done tasks. Returns the claimed ones. */
async function createTasks(
  web: Web,
  key: string,
  { editor, reviewer }: SeedData['people'],
): Promise<Record<'editor' | 'reviewer', string[]>> {
  const call = createClient(web.url, key);
  await orderEdit(call, 'The house is small.\nThe garden is large.\n');
  await editNext(editor);
  const review = await until(async () => {
    const { body } = await reviewer.call('GET', '/api/editing/queue');
    return (body.open as { kind: string; task: string }[]).find(({ kind }) => kind === 'review');
  });
  const reviewed = await claimTask(reviewer, review.task);
  const mark = { position: 0, category: 'style', severity: 'minor', note: 'Too literal.' };
  expectSuccess(
    await reviewer.call('POST', pathOf(reviewed, '/issues'), { token: reviewed.lease.token, ...mark }),
  );

  const tasks = { editor: [] as string[], reviewer: [reviewed.task as string] };
  for (const fields of [
    { text_format: 'html', text: HTML, instructions: 'Friendly, please.' },
    { text_format: 'srt', text: '1\n00:00:01,000 --> 00:00:02,000\nThe sea is calm.\n' },
  ]) {
    await orderEdit(call, fields.text, fields);
    const claimed = await claimTask(editor);
    const [first] = claimed.segments;
    expectSuccess(await confirm(editor, claimed, { ...first, draft: first.draft }));
    const comment = { token: claimed.lease.token, position: 0, text: 'Is this a name?' };
    expectSuccess(await editor.call('POST', pathOf(claimed, '/comments'), comment));
    tasks.editor.push(claimed.task);
  }
  await orderEdit(call, 'This task stays open.\n');
  return tasks;
}

async function requestSandbox(web: Web, operator: TestPerson): Promise<string> {
  const { call } = createBrowser(web.url);
  for (const name of ['Ada Asking', 'Eve Waiting']) {
    const email = `${name.split(' ')[0]}@example.com`.toLowerCase();
    expectSuccess(
      await call('POST', '/api/sandbox-requests', { name, email, company: 'Acme', use: 'Manuals' }),
    );
  }
  const { body } = await operator.call('GET', '/api/console/sandbox-requests?status=open');
  const request = (body.requests as { email: string; request_id: string }[]).find(
    ({ email }) => email === 'ada@example.com',
  );
  const granted = await operator.call(
    'POST',
    `/api/console/sandbox-requests/${request!.request_id}/grant`,
    {},
  );
  return String(expectSuccess(granted).body.link).split('/').at(-1)!;
}

function expectSuccess(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
