/** Puts the vectors into everything that a service keeps of what people and programs write. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createAccount } from '../../scripts/program.ts';
import type { Vector } from './vectors.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;
export const PASSWORD = 'a long and quiet password';
const PAIR = { source_language: 'en', target_language: 'es' };
const ACCOUNT = 'acme';

export interface Filled {
  /** What every page of somebody is opened with. */
  cookies: Record<'customer' | 'editor' | 'reviewer' | 'operator', string>;
  /** What the interface is called with. */
  authorization: string;
  tasks: { editor: string[]; reviewer: string[] };
  jobs: { uid: string; job: string }[];
  chat: string;
  deliveries: string[];
  brands: string[];
  /** Of a link that shows a sandbox key. */
  sandbox: string;
  invitation: string;
  /** How many were taken and how many refused, by what they were put into. */
  taken: Record<string, { taken: number; refused: number }>;
}

type Send = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: never }>;
type Body = Record<string, never> & Record<string, unknown>;

export async function fill(url: string, directory: string, vectors: readonly Vector[]): Promise<Filled> {
  const account = await createAccount(directory, ACCOUNT, 100_000_000, '--chat');
  const authorization = `ApiKey ${account.production_key}`;
  const call = sender(url, { authorization });
  const taken: Filled['taken'] = {};
  /** One of each vector. */
  async function each(what: string, put: (vector: Vector, index: number) => Promise<{ status: number }>) {
    const counts = { taken: 0, refused: 0 };
    for (const [index, vector] of vectors.entries()) {
      const { status } = await put(vector, index);
      if (status >= 500) throw new Error(`${what} answered ${status} to ${vector.text}`);
      counts[status < 300 ? 'taken' : 'refused']++;
    }
    taken[what] = counts;
  }
  const all = vectors.map(({ text }) => text);

  const brand = join(directory, 'brand.json');
  writeFileSync(brand, JSON.stringify(brandOf(vectors)));
  await command(directory, 'brand', 'import', ACCOUNT, brand);
  const who = await enter(url, directory);
  const { customer, editor, reviewer, operator } = who;

  // What a customer writes.
  const receiver = await startReceiver(all);
  await each('callback address', async ({ text }, index) => {
    const order = (callback_url: string) =>
      call('POST', '/tapi/v2/mt_translation/', { ...PAIR, uid: `cb-${index}`, text: 'Sea.', callback_url });
    // As it is, where that is an address; else as it would be written in one.
    const asItIs = await order(`${receiver.url}/?${text}`);
    return asItIs.status === 201 ? asItIs : order(`${receiver.url}/?${encodeURIComponent(text)}`);
  });
  await each('job id', ({ text }) =>
    call('POST', '/tapi/v2/mt_translation/', { ...PAIR, uid: text.slice(0, 128), text: 'Sea.' }),
  );
  await each('chat message', ({ text, mark }) =>
    call('POST', '/v2/chats/messages', {
      ...{
        ...PAIR,
        chat_external_id: `<i data-x=1>${ACCOUNT}</i>`,
        external_id: `${mark} ${text}`.slice(0, 128),
      },
      ...{
        text,
        text_format: 'text',
        author_external_id: text.slice(0, 128),
        agent_external_id: text.slice(0, 128),
      },
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
    ...{ from: 'en', to: 'es', brand: 'acme', dry_run: false, tmx: tmxOf(vectors) },
  });
  const uids = await orderEdits(call, vectors);

  // What people write about it.
  const tasks: Filled['tasks'] = { editor: [], reviewer: [] };
  const claims: Claim[] = [];
  for (const _ of uids) claims.push(await claim(editor.send));
  for (const { task } of claims) tasks.editor.push(task);
  const [first] = claims;
  await each('comment', ({ text }, position) =>
    editor.send('POST', `/api/editing/tasks/${first!.task}/comments`, {
      ...{ token: first!.lease.token, text },
      ...(position < first!.segments.length ? { position } : {}),
    }),
  );
  await each('target of a segment', async ({ text }, position) => {
    const segment = first!.segments[position];
    if (segment === undefined) return { status: 400 };
    return editor.send('PUT', `/api/editing/tasks/${first!.task}/segments/${segment.position}`, {
      ...{ token: first!.lease.token, revision: segment.revision, status: 'draft', target: [{ text }] },
    });
  });
  const reported = claims.at(-1)!;
  await editor.send('POST', `/api/editing/tasks/${reported.task}/report`, {
    ...{ token: reported.lease.token, reason: 'other', note: all.join(' ').slice(0, 2000) },
  });
  tasks.editor.pop();
  const review = await reviewOf(call, editor.send, reviewer.send, vectors);
  tasks.reviewer.push(review.task);
  await each('note of an issue', ({ text }) =>
    reviewer.send('POST', `/api/editing/tasks/${review.task}/issues`, {
      ...{ token: review.lease.token, position: 0, category: 'style', severity: 'minor', note: text },
    }),
  );

  // What operators and whoever comes write.
  await each('name of a person', ({ text }, index) =>
    operator.send('POST', '/api/console/people', {
      ...{
        email: `person-${index}@example.com`,
        name: text.slice(0, 100),
        role: 'editor',
        languages: [],
        review_share: 100,
      },
    }),
  );
  await each('name of an account', ({ text }) =>
    operator.send('POST', '/api/console/accounts', { username: text.slice(0, 64), email: 'x@example.com' }),
  );
  await each('name of a brand', ({ text }) =>
    operator.send('POST', `/api/console/accounts/${ACCOUNT}/brands`, {
      ...{ external_id: text.slice(0, 128), name: text.slice(0, 100), default: false },
    }),
  );
  await each('memo of a transfer', ({ text }) =>
    operator.send('POST', `/api/console/accounts/${ACCOUNT}/transfers`, {
      ...{
        kind: 'adjustment',
        environment: 'production',
        cents: 1,
        memo: text.slice(0, 200),
        dry_run: false,
      },
    }),
  );
  await each('request for a sandbox', ({ text }, index) =>
    // Every address asks once; what comes after is slowed down.
    index < 4
      ? sender(url, OWN)('POST', '/api/sandbox-requests', {
          ...{ name: text.slice(0, 100), company: text.slice(0, 100), email: `ask-${index}@example.com` },
          use: all.join(' ').slice(0, 1000),
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
      ...{
        email: 'last@example.com',
        name: all[0]!.slice(0, 100),
        role: 'editor',
        languages: [],
        review_share: 100,
      },
    })
  ).body as { link?: string };

  await triedOnce(call);
  const listed = ((await operator.send('GET', `/api/console/jobs?account=${ACCOUNT}&limit=200`)).body as Body)
    .jobs as unknown as Filled['jobs'];
  // Each has all of the vectors.
  const jobs = listed.filter(({ uid }) => ['text', 'html', 'xliff'].includes(uid));
  const chats = ((await customer.send('GET', '/api/account/chats')).body as Body).objects as unknown as {
    id: string;
  }[];
  const deliveries = ((await customer.send('GET', '/api/account/deliveries')).body as Body)
    .objects as unknown as { id: string }[];
  receiver.close();
  return {
    cookies: {
      ...{ customer: customer.cookie, editor: editor.cookie },
      ...{ reviewer: reviewer.cookie, operator: operator.cookie },
    },
    ...{ authorization, tasks, taken, jobs },
    chat: chats[0]?.id ?? '',
    deliveries: deliveries.slice(0, 1).map(({ id }) => id),
    brands: ['acme', all[0]!.slice(0, 128)],
    sandbox: granted.link?.split('/').at(-1) ?? '',
    invitation: invited.link?.split('/').at(-1) ?? '',
  };
}

/** A glossary of every vector, and instructions. */
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
    // What XML cannot say is left out.
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

function tmxOf(vectors: readonly Vector[]): string {
  const units = vectors.map(({ text, mark }) => {
    const said = (language: string, words: string) =>
      `<tuv xml:lang="${language}"><seg>${escapeXml(words)}</seg></tuv>`;
    return `<tu>${said('en', `${text} ${mark}`)}${said('es', `${text} ${mark} es`)}</tu>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en" datatype="plaintext"/>
<body>${units.join('\n')}</body></tmx>`;
}

/** Jobs of all formats, with the vectors as their texts and as what was translated before. @returns their uids */
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
    // A supplied translation whose parts do not fit is refused; the machine's draft then is what is corrected.
    if (status === 400)
      ({ status } = await call('POST', '/tapi/v2/translation/', { ...sent, target_text: undefined }));
    if (status !== 201) throw new Error(`the job ${uid} answered ${status}`);
    await untilStatus(call, uid, 'translating');
    uids.push(uid);
  }
  return uids;
}

/** A job that was edited, and is in the hands of whoever reviews it. */
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
    const { keyOf } = await import('@dragoman/checks');
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

/** Waits until every callback has been tried. */
async function triedOnce(call: Send): Promise<void> {
  for (;;) {
    const { objects } = (await call('GET', '/api/v1/deliveries/')).body as {
      objects: { attempts: number }[];
    };
    if (objects.length > 0 && objects.every(({ attempts }) => attempts > 0)) return;
    await wait(50);
  }
}

/** Answers every callback with the vectors, as what it says and in what stands above it. */
async function startReceiver(texts: readonly string[]) {
  const header = texts
    .join(' ')
    .replace(/[^\x20-\x7e]/g, ' ')
    .slice(0, 4_000);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url?.length === 1 ? 200 : 410, {
      'x-said': header,
      'content-type': 'text/html',
    });
    response.end(texts.join('\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** Somebody of every role, signed in. */
async function enter(url: string, directory: string) {
  const person = async (role: string, name: string, ...options: string[]) => {
    const email = `${name}@example.com`;
    await command(directory, 'user', 'create', email, '--role', role, ...options, '--password-stdin');
    const response = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...OWN },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    if (response.status >= 300) throw new Error(`signing in answered ${response.status}`);
    const cookie = response.headers
      .getSetCookie()
      .map((one) => one.split(';')[0]!)
      .join('; ');
    return { cookie, send: sender(url, { cookie, ...OWN }) };
  };
  return {
    customer: await person('customer', 'customer', '--account', ACCOUNT),
    editor: await person('editor', 'editor', '--language', 'en:es'),
    reviewer: await person('editor', 'reviewer', '--language', 'en:es', '--review'),
    operator: await person('operator', 'operator'),
  };
}

/** A page of this server says so. */
const OWN = { 'sec-fetch-site': 'same-origin' };

function sender(url: string, headers: Record<string, string>): Send {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      ...{ method, redirect: 'manual' },
      // Moving money wants one.
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

async function command(directory: string, ...args: string[]): Promise<void> {
  const running = promisify(execFile)(process.execPath, [MAIN, ...args, '--data', directory]);
  running.child.stdin?.end(PASSWORD);
  await running;
}
