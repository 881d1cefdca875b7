/** Stores the hostile strings (vectors) in every field that the service stores. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { keyOf } from '@dragoman/checks';
import { createAccount, runCommand } from '../../scripts/program.ts';
import { createUser, SAME_ORIGIN, signIn } from '../harness/users.ts';
import type { Vector } from './vectors.ts';

const PAIR = { source_language: 'en', target_language: 'es' };
const ACCOUNT = 'acme';

export interface Filled {
  /** The session cookie of each role. */
  cookies: Record<'customer' | 'editor' | 'reviewer' | 'operator', string>;
  /** The `authorization` header for the API. */
  authorization: string;
  tasks: { editor: string[]; reviewer: string[] };
  jobs: { uid: string; job: string }[];
  chat: string;
  deliveries: string[];
  brands: string[];
  /** The token of a link that shows a sandbox key. */
  sandbox: string;
  invitation: string;
  /** For each field, the number of hostile strings that the service accepted and refused. */
  taken: Record<string, { taken: number; refused: number }>;
}

type Send = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: never }>;
type Body = Record<string, never> & Record<string, unknown>;

/** Stores each hostile string in one field and counts the responses. */
type Each = (
  what: string,
  put: (vector: Vector, index: number) => Promise<{ status: number }>,
) => Promise<void>;

type Users = Awaited<ReturnType<typeof createUsers>>;

interface Filling {
  url: string;
  vectors: readonly Vector[];
  users: Users;
  /** Sends a request with the API key of the account. */
  call: Send;
  each: Each;
}

export async function fill(url: string, directory: string, vectors: readonly Vector[]): Promise<Filled> {
  const account = await createAccount(directory, ACCOUNT, 100_000_000, { chat: true });
  const authorization = `ApiKey ${account.production_key}`;
  const call = sender(url, { authorization });
  const taken: Filled['taken'] = {};
  const each: Each = async (what, put) => {
    const counts = { taken: 0, refused: 0 };
    for (const [index, vector] of vectors.entries()) {
      const { status } = await put(vector, index);
      if (status >= 500) throw new Error(`${what} answered ${status} to ${vector.text}`);
      counts[status < 300 ? 'taken' : 'refused']++;
    }
    taken[what] = counts;
  };
  const brand = join(directory, 'brand.json');
  writeFileSync(brand, JSON.stringify(brandOf(vectors)));
  await runCommand(directory, 'brand', 'import', ACCOUNT, brand);
  const users = await createUsers(url, directory);
  const filling: Filling = { url, vectors, users, call, each };
  const receiver = await startReceiver(vectors.map(({ text }) => text));
  const uids = await fillAsCustomer(filling, receiver.url);
  const tasks = await fillAsEditors(filling, uids);
  const links = await fillAsOperator(filling);
  const { customer, editor, reviewer, operator } = users;
  await untilTried(call);
  const listed = ((await operator.send('GET', `/api/console/jobs?account=${ACCOUNT}&limit=200`)).body as Body)
    .jobs as unknown as Filled['jobs'];
  // The jobs whose texts contain all hostile strings.
  const jobs = listed.filter(({ uid }) => ['text', 'html', 'xliff'].includes(uid));
  const chats = ((await customer.send('GET', '/api/account/chats')).body as Body).objects as unknown as {
    id: string;
  }[];
  const deliveries = ((await customer.send('GET', '/api/account/deliveries')).body as Body)
    .objects as unknown as { id: string }[];
  receiver.close();
  return {
    cookies: {
      customer: customer.cookie,
      editor: editor.cookie,
      reviewer: reviewer.cookie,
      operator: operator.cookie,
    },
    authorization,
    tasks,
    taken,
    jobs,
    chat: chats[0]?.id ?? '',
    deliveries: deliveries.slice(0, 1).map(({ id }) => id),
    brands: ['acme', vectors[0]!.text.slice(0, 128)],
    ...links,
  };
}

/**
 * Stores hostile strings in everything that a customer can write.
 *
 * @returns the uids of the jobs for editors
 */
async function fillAsCustomer(
  { vectors, users: { customer }, call, each }: Filling,
  callbacks: string,
): Promise<string[]> {
  await each('callback address', async ({ text }, index) => {
    const order = (callback_url: string) =>
      call('POST', '/tapi/v2/mt_translation/', { ...PAIR, uid: `cb-${index}`, text: 'Sea.', callback_url });
    // The hostile string is sent unchanged if the result is a valid URL, otherwise percent-encoded.
    const unchanged = await order(`${callbacks}/?${text}`);
    return unchanged.status === 201 ? unchanged : order(`${callbacks}/?${encodeURIComponent(text)}`);
  });
  await each('job id', ({ text }) =>
    call('POST', '/tapi/v2/mt_translation/', { ...PAIR, uid: text.slice(0, 128), text: 'Sea.' }),
  );
  await each('chat message', ({ text, mark }) =>
    call('POST', '/v2/chats/messages', {
      ...PAIR,
      chat_external_id: `<i data-x=1>${ACCOUNT}</i>`,
      external_id: `${mark} ${text}`.slice(0, 128),
      text,
      text_format: 'text',
      author_external_id: text.slice(0, 128),
      agent_external_id: text.slice(0, 128),
    }),
  );
  await each('key name', ({ text }) =>
    customer.send('POST', '/api/account/keys', {
      name: text.slice(0, 100),
      environment: 'sandbox',
      read_only: true,
    }),
  );
  await customer.send('POST', '/api/account/memory/import', {
    from: 'en',
    to: 'es',
    brand: 'acme',
    dry_run: false,
    tmx: tmxOf(vectors),
  });
  return orderEdits(call, vectors);
}

/** Stores hostile strings in everything that editors and reviewers can write. */
async function fillAsEditors(
  { vectors, users: { editor, reviewer }, call, each }: Filling,
  uids: readonly string[],
): Promise<Filled['tasks']> {
  const tasks: Filled['tasks'] = { editor: [], reviewer: [] };
  const claims: Claim[] = [];
  for (const _ of uids) claims.push(await claim(editor.send));
  for (const { task } of claims) tasks.editor.push(task);
  const [first] = claims;
  await each('comment', ({ text }, position) =>
    editor.send('POST', `/api/editing/tasks/${first!.task}/comments`, {
      token: first!.lease.token,
      text,
      ...(position < first!.segments.length ? { position } : {}),
    }),
  );
  await each('target of a segment', async ({ text }, position) => {
    const segment = first!.segments[position];
    if (segment === undefined) return { status: 400 };
    return editor.send('PUT', `/api/editing/tasks/${first!.task}/segments/${segment.position}`, {
      token: first!.lease.token,
      revision: segment.revision,
      status: 'draft',
      target: [{ text }],
    });
  });
  const reported = claims.at(-1)!;
  await editor.send('POST', `/api/editing/tasks/${reported.task}/report`, {
    token: reported.lease.token,
    reason: 'other',
    note: allTexts(vectors).slice(0, 2000),
  });
  tasks.editor.pop();
  const review = await reviewOf(call, editor.send, reviewer.send, vectors);
  tasks.reviewer.push(review.task);
  await each('note of an issue', ({ text }) =>
    reviewer.send('POST', `/api/editing/tasks/${review.task}/issues`, {
      token: review.lease.token,
      position: 0,
      category: 'style',
      severity: 'minor',
      note: text,
    }),
  );
  return tasks;
}

/**
 * Stores hostile strings in everything that operators and visitors can write.
 *
 * @returns the tokens of links that were sent
 */
async function fillAsOperator({
  url,
  vectors,
  users: { operator },
  each,
}: Filling): Promise<Pick<Filled, 'sandbox' | 'invitation'>> {
  await each('name of a person', ({ text }, index) =>
    operator.send('POST', '/api/console/people', {
      email: `person-${index}@example.com`,
      name: nameOf(text),
      role: 'editor',
      languages: [],
      review_share: 100,
    }),
  );
  await each('name of an account', ({ text }) =>
    operator.send('POST', '/api/console/accounts', { username: text.slice(0, 64), email: 'x@example.com' }),
  );
  await each('name of a brand', ({ text }) =>
    operator.send('POST', `/api/console/accounts/${ACCOUNT}/brands`, {
      external_id: text.slice(0, 128),
      name: text.slice(0, 100),
      default: false,
    }),
  );
  await each('memo of a transfer', ({ text }) =>
    operator.send('POST', `/api/console/accounts/${ACCOUNT}/transfers`, {
      kind: 'adjustment',
      environment: 'production',
      cents: 1,
      memo: text.slice(0, 200),
      dry_run: false,
    }),
  );
  await each('request for a sandbox', ({ text }, index) =>
    // Only four requests are sent, because the server would refuse more from one address.
    index < 4
      ? sender(url, SAME_ORIGIN)('POST', '/api/sandbox-requests', {
          name: nameOf(text),
          company: text.slice(0, 100),
          email: `ask-${index}@example.com`,
          use: allTexts(vectors).slice(0, 1000),
        })
      : Promise.resolve({ status: 400 }),
  );
  const asked = (await operator.send('GET', '/api/console/sandbox-requests?status=open')).body as Body;
  const [request] = asked.requests as unknown as { request_id: string }[];
  const granted = (
    await operator.send('POST', `/api/console/sandbox-requests/${request?.request_id}/grant`, {})
  ).body as { link?: string };
  const invited = (
    await operator.send('POST', '/api/console/people', {
      email: 'last@example.com',
      name: nameOf(vectors[0]!.text),
      role: 'editor',
      languages: [],
      review_share: 100,
    })
  ).body as { link?: string };
  return {
    sandbox: granted.link?.split('/').at(-1) ?? '',
    invitation: invited.link?.split('/').at(-1) ?? '',
  };
}

const allTexts = (vectors: readonly Vector[]) => vectors.map(({ text }) => text).join(' ');

/** Returns a brand with every hostile string in its glossary and instructions. */
function brandOf(vectors: readonly Vector[]): object {
  const plain = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const glossary = vectors
    .map(({ text, mark }) => ({ source: plain(text), target: `${plain(text)} ${mark}`, note: plain(text) }))
    .filter(({ source }) => source.length <= 200);
  const unique = [...new Map(glossary.map((term) => [term.source.toLowerCase(), term])).values()];
  const instructions = vectors
    .map(({ text }) => plain(text))
    .join('\n')
    .slice(0, 9_000);
  const languages = { es: { tone: 'Formal', instructions, glossary: unique } };
  return { external_id: 'acme', name: vectors[0]!.text.slice(0, 100), default: true, languages };
}

const escapeXml = (text: string) =>
  text
    // XML cannot represent these characters.
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

function tmxOf(vectors: readonly Vector[]): string {
  const units = vectors.map(({ text, mark }) => {
    const variant = (language: string, words: string) =>
      `<tuv xml:lang="${language}"><seg>${escapeXml(words)}</seg></tuv>`;
    return `<tu>${variant('en', `${text} ${mark}`)}${variant('es', `${text} ${mark} es`)}</tu>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en" datatype="plaintext"/>
<body>${units.join('\n')}</body></tmx>`;
}

/**
 * Creates jobs of all formats, with the hostile strings as texts and as supplied translations.
 *
 * @returns their uids
 */
async function orderEdits(call: Send, vectors: readonly Vector[]): Promise<string[]> {
  const oneLine = vectors.map(({ text }) => text.replace(/[\r\n\u2028\u2029]+/g, ' '));
  const blocks = oneLine.map((text, at) => `${at + 1}\n00:00:01,000 --> 00:00:09,000\n${text}\n`);
  const units = vectors.map(
    ({ text }, at) =>
      `<trans-unit id="${at}"><source>${escapeXml(text)}</source><note>${escapeXml(text)}</note></trans-unit>`,
  );
  const instructions = vectors
    .map(({ text }) => text)
    .join('\n')
    .slice(0, 9_000);
  const jobs = {
    text: { text: oneLine.join('\n'), target_text: oneLine.map((text) => `${text} es`).join('\n') },
    html: { text: oneLine.map((text) => `<p>Sea ${text}</p>`).join('\n') },
    htmltext: { text: oneLine.map((text) => `<p>${escapeXml(text)}</p>`).join('\n'), text_format: 'html' },
    srt: { text: blocks.join('\n') },
    xliff: {
      text: `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="${escapeXml(oneLine[0]!).replaceAll('"', '&quot;')}" source-language="en" datatype="plaintext"><header/><body>${units.join('')}</body></file></xliff>`,
    },
    report: { text: oneLine.slice(0, 3).join('\n'), text_format: 'text' },
  };
  const uids: string[] = [];
  for (const [uid, body] of Object.entries(jobs)) {
    const sent = { ...PAIR, uid, text_format: uid, brand: 'acme', instructions, ...body };
    let { status } = await call('POST', '/tapi/v2/translation/', sent);
    // The service refuses a supplied translation that does not fit the text. The job is then created without it, and
    // the engine makes the draft.
    if (status === 400)
      ({ status } = await call('POST', '/tapi/v2/translation/', { ...sent, target_text: undefined }));
    if (status !== 201) throw new Error(`the job ${uid} answered ${status}`);
    await untilStatus(call, uid, 'translating');
    uids.push(uid);
  }
  return uids;
}

/** Creates a job, edits it, and claims its review. */
async function reviewOf(
  call: Send,
  editor: Send,
  reviewer: Send,
  vectors: readonly Vector[],
): Promise<Claim> {
  const text = vectors[0]!.text;
  await call('POST', '/tapi/v2/translation/', {
    ...PAIR,
    uid: 'review',
    text: 'The sea is calm.',
    brand: 'acme',
  });
  await untilStatus(call, 'review', 'translating');
  const { task, lease, segments } = await claim(editor);
  const path = `/api/editing/tasks/${task}`;
  for (const { position, revision } of segments) {
    const body = { token: lease.token, revision, status: 'confirmed', target: [{ text }] };
    const refused = (await editor('PUT', `${path}/segments/${position}`, body)).body as Body;
    const findings = (refused.error as unknown as { findings?: unknown[] } | undefined)?.findings ?? [];
    const acknowledged = findings.map((one) => keyOf(one as Parameters<typeof keyOf>[0]));
    await editor('PUT', `${path}/segments/${position}`, { ...body, acknowledged });
  }
  await editor('POST', `${path}/submit`, { token: lease.token });
  for (;;) {
    const { open } = (await reviewer('GET', '/api/editing/queue')).body as {
      open: { kind: string; task: string }[];
    };
    const found = open.find(({ kind }) => kind === 'review');
    if (found !== undefined) return claim(reviewer, found.task);
    await wait(50);
  }
}

interface Claim {
  task: string;
  lease: { token: string };
  segments: { position: number; revision: number }[];
}

async function claim(send: Send, task?: string): Promise<Claim> {
  const { status, body } = await send('POST', '/api/editing/claims', task === undefined ? {} : { task });
  if (status !== 201) throw new Error(`a claim answered ${status} ${JSON.stringify(body)}`);
  return (body as { task: Claim }).task;
}

async function untilStatus(call: Send, uid: string, wanted: string): Promise<void> {
  for (;;) {
    const { status, failure } = (await call('GET', `/tapi/v2/translation/${uid}/`)).body as Record<
      string,
      string
    >;
    if (status === wanted) return;
    if (status === 'failed') throw new Error(`the job ${uid} failed: ${failure}`);
    await wait(50);
  }
}

/** Waits until every callback was attempted. */
async function untilTried(call: Send): Promise<void> {
  for (;;) {
    const { objects } = (await call('GET', '/api/v1/deliveries/')).body as {
      objects: { attempts: number }[];
    };
    if (objects.length > 0 && objects.every(({ attempts }) => attempts > 0)) return;
    await wait(50);
  }
}

/** Starts a receiver that responds to every callback with the hostile strings in the body and in a header. */
async function startReceiver(texts: readonly string[]) {
  const header = texts
    .join(' ')
    .replace(/[^\x20-\x7e]/g, ' ')
    .slice(0, 4_000);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url?.length === 1 ? 200 : 410, {
      'x-vectors': header,
      'content-type': 'text/html',
    });
    response.end(texts.join('\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/**
 * Returns a hostile string without the characters that a user's name cannot contain: slashes and invisible
 * characters.
 */
function nameOf(text: string): string {
  return text
    .replaceAll('/', '|')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .slice(0, 100);
}

/** Creates a user of every role and signs the users in. */
async function createUsers(url: string, directory: string) {
  const create = async (role: string, name: string, ...options: string[]) => {
    const email = `${name}@example.com`;
    await createUser(directory, email, role, ...options);
    const cookie = await signIn(url, email);
    return { cookie, send: sender(url, { cookie, ...SAME_ORIGIN }) };
  };
  return {
    customer: await create('customer', 'customer', '--account', ACCOUNT),
    editor: await create('editor', 'editor', '--language', 'en:es'),
    reviewer: await create('editor', 'reviewer', '--language', 'en:es', '--review'),
    operator: await create('operator', 'operator'),
  };
}

function sender(url: string, headers: Record<string, string>): Send {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      // Transfers require an idempotency key.
      headers: {
        ...headers,
        'idempotency-key': randomUUID(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson =
      response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return { status: response.status, body: (isJson ? JSON.parse(text) : {}) as never };
  };
}
