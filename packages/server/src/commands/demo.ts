/**
 * The command `dragoman demo`: runs the whole service with a customer and a receiver of callbacks. The
 * customer uses only the public API.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createDragoman,
  type Dragoman,
  DragomanError,
  type JobCallback,
  type JobRequest,
  verifyWebhook,
} from '@dragoman/client';
import { AccountError, accountNamed } from '../access/accounts.ts';
import { createPerson, type NewPerson, personNamed, setLanguages, setPassword } from '../access/people.ts';
import { type AccountCredentials, createAccount } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { openStore, type Store } from '../roles/program.ts';
import { type Server, startServer } from '../roles/serve.ts';
import { loadSettings } from '../settings/settings.ts';
import { createEngines, offerOfModel } from '../translation/engines.ts';
import { ensureEngine } from './engine.ts';
import { CommandError, print, say } from './output.ts';

interface DemoJob {
  title: string;
  tier: 'jobs' | 'machineJobs';
  environment: 'production' | 'sandbox';
  body: JobRequest;
}

/** Every release of Debian that we support has the language pairs of these jobs. */
export const JOBS: readonly DemoJob[] = [
  {
    title: 'text, English → Spanish, by machine',
    tier: 'machineJobs',
    environment: 'production',
    body: {
      source_language: 'en',
      target_language: 'es',
      text:
        'The old house stands on a hill near the sea. Every summer, the family opens the windows and the ' +
        'children run to the beach.\n\nIn winter, nobody comes here. Write to house@example.com for the key.',
    },
  },
  {
    title: 'HTML, Spanish → Catalan, by machine: markup and variables are not touched',
    tier: 'machineJobs',
    environment: 'production',
    body: {
      source_language: 'es',
      target_language: 'ca',
      text_format: 'html',
      text:
        '<h1>Bienvenido</h1>\n<p class="intro">La <b>casa roja</b> está cerca del mar.<br>' +
        'Hola, <span class="notranslate" origval="{{ user.name }}">María</span>.</p>',
    },
  },
  {
    title: 'subtitles, English → French in two hops, by machine: times are not touched',
    tier: 'machineJobs',
    environment: 'production',
    body: {
      source_language: 'en',
      target_language: 'fr',
      text_format: 'srt',
      text:
        '1\n00:00:01,000 --> 00:00:03,500\nThe train leaves at ten,\n\n' +
        '2\n00:00:03,700 --> 00:00:06,000\nand the city is <i>very</i> far.\n',
    },
  },
  {
    title: 'XLIFF, English → Spanish, by machine: every unit gets its target',
    tier: 'machineJobs',
    environment: 'production',
    body: {
      source_language: 'en',
      target_language: 'es',
      text_format: 'xliff',
      text: `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="shop" source-language="en" datatype="plaintext">
    <header/>
    <body>
      <trans-unit id="title">
        <source>A table for six people</source>
      </trans-unit>
      <trans-unit id="body">
        <source>The table is <g id="1">strong</g> and costs <x id="2"/> euros.</source>
      </trans-unit>
    </body>
  </file>
</xliff>`,
    },
  },
  {
    title: 'text, in the sandbox: the order of a human edit, done by machine, held for 3 s',
    tier: 'jobs',
    environment: 'sandbox',
    body: {
      source_language: 'en',
      target_language: 'es',
      tone: 'Formal',
      topics: ['tech'],
      text: 'Your order {order_id} has arrived. You can read the news at https://example.com/news every day.',
    },
  },
];

const HOLD_SECONDS = '3';
/** The time limit of a delivery. The demo fails when a delivery takes longer. */
const PATIENCE_MILLISECONDS = 90_000;

/**
 * Translates one job of each format and a chat message, then continues to serve until SIGINT or SIGTERM.
 * @param options `yes` installs the offline engine without asking; `exit` ends the demo after the last
 * delivery
 * @throws CommandError when a job, a delivery or a signature is wrong
 */
export async function demo(options: { data?: string; yes?: boolean; exit: boolean }): Promise<void> {
  const settings = loadSettings({
    DRAGOMAN_SANDBOX_HOLD: HOLD_SECONDS,
    DRAGOMAN_LOG_LEVEL: 'warn',
    ...process.env,
    ...(options.data !== undefined && { DRAGOMAN_DATA: options.data }),
    DRAGOMAN_ALLOWED_NETWORKS: process.env.DRAGOMAN_ALLOWED_NETWORKS ?? '127.0.0.0/8',
  });
  say('1. The offline engine');
  await ensureEngine(settings, options.yes === true);
  say('2. The database');
  const log = createLog(settings.logLevel);
  const store = await openStore(settings, 'serve', log);
  say('3. The server');
  const server = await startOnFreePort();
  const receiver = await startReceiver();
  try {
    await untilReady(server.url!);
    // The account has a new name in each demo, because the keys of an earlier demo cannot be shown again.
    const credentials = await createAccount(store.database, store.vault, 'command', {
      username: `demo-${Date.now().toString(36)}`,
      email: undefined,
      balanceCents: 10_000,
      dialect: 'spec',
      chat: true,
    });
    for (const job of JOBS) await runJob(server.url!, receiver, credentials, job);
    await runChat(server.url!, receiver, credentials);
    print(`\nAll ${JOBS.length + 1} deliveries arrived, each with a valid signature.`);
    const offer = offerOfModel(settings);
    if (offer !== undefined) print(`The translations are by Apertium; ${offer}.`);
    const people = await createUsers(store, credentials);
    if (!options.exit) await stayUp(server.url!, receiver, credentials, people);
  } finally {
    await receiver.close();
    await server.stop();
    await store.close();
  }

  async function startOnFreePort(): Promise<Server> {
    const common = { store, role: 'all', engines: () => createEngines(settings), log } as const;
    try {
      return await startServer({ ...common, settings });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      say(`   port ${settings.port} is taken; using a free one`);
      return startServer({ ...common, settings: { ...settings, port: 0 } });
    }
  }
}

async function untilReady(url: string): Promise<void> {
  let shown = '';
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    if (response.status === 200) return;
    const missing = Object.entries(checks).find(([, check]) => check !== 'ok');
    const line = `   waiting for ${missing?.[0]}: ${missing?.[1]}`;
    if (line !== shown) say(line);
    shown = line;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function runJob(
  url: string,
  receiver: Receiver,
  credentials: AccountCredentials,
  job: DemoJob,
): Promise<void> {
  const sandbox = job.environment === 'sandbox';
  const key = sandbox ? credentials.sandbox_key : credentials.production_key;
  const dragoman = createDragoman({ baseUrl: url, key, sandbox });
  const uid = `${job.body.text_format ?? job.environment}-${Date.now().toString(36)}`;
  print(`\n── ${job.title}`);
  print(indent('sent      ', job.body.text));
  const { status, price } = await create(dragoman, job, uid, `${receiver.url}/${uid}`);
  const cents = price === undefined ? '' : `, ${price} cents`;
  print(`created     201, status ${status}${cents}; waiting for the callback …`);
  const started = performance.now();
  const arrived = await receiver.next(uid, PATIENCE_MILLISECONDS);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const body = JSON.parse(arrived.body) as JobCallback;
  if (body.status !== 'completed') throw new CommandError(`The job ended as ${body.status}: ${body.failure}`);
  print(indent('translated', body.translated_text ?? ''));
  const secret = sandbox ? credentials.webhook_secret_sandbox : credentials.webhook_secret_production;
  const verdict = await verifyWebhook({ secret, ...arrived });
  if (!verdict.ok) throw new CommandError(`The signature of the callback is wrong: ${verdict.reason}`);
  print(`delivered   after ${seconds} s, webhook-id ${verdict.id}, signature valid`);
}

async function create(
  dragoman: Dragoman,
  job: DemoJob,
  uid: string,
  callbackUrl: string,
): Promise<{ status: string; price?: number }> {
  const { tier, body } = job;
  try {
    const request = { ...body, uid, callback_url: callbackUrl };
    return tier === 'jobs' ? await dragoman.jobs.create(request) : await dragoman.machineJobs.create(request);
  } catch (error) {
    if (error instanceof DragomanError) throw new CommandError(`The job was refused: ${error.message}`);
    throw error;
  }
}

/** Sends a customer's chat message and prints its translation as the person who answers the chat would read it. */
async function runChat(url: string, receiver: Receiver, credentials: AccountCredentials): Promise<void> {
  const text = '¿Dónde está mi pedido? La casa es azul.';
  print('\n── a chat message, Spanish → English, by machine at once');
  print(indent('sent      ', text));
  const started = performance.now();
  const { chats } = createDragoman({ baseUrl: url, key: credentials.production_key });
  const created = await chats.postMessage({
    chat_external_id: 'ticket-17',
    external_id: '1',
    is_inbound: true,
    text,
    text_format: 'text',
    source_language: 'es',
    target_language: 'en',
    callback_url: `${receiver.url}/chat`,
  });
  print(`created     201, status ${created.message.status}; waiting for the webhook …`);
  const arrived = await receiver.next('chat', PATIENCE_MILLISECONDS);
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  const { message } = JSON.parse(arrived.body) as typeof created;
  if (message.translated_text === undefined)
    throw new CommandError(`The message ended as ${message.status}.`);
  print(indent('translated', message.translated_text));
  const verdict = await verifyWebhook({ secret: credentials.webhook_secret_production, ...arrived });
  if (!verdict.ok) throw new CommandError(`The signature of the webhook is wrong: ${verdict.reason}`);
  print(`delivered   after ${seconds} s, webhook-id ${verdict.id}, signature valid`);
}

function indent(label: string, text: string): string {
  return text
    .split('\n')
    .map((line, index) => `${index === 0 ? label : ' '.repeat(label.length)}  ${line}`)
    .join('\n');
}

interface SignIn {
  who: string;
  email: string;
  password: string;
}

/** Creates a user for each part of the web app. Users of an earlier demo get a new password. */
async function createUsers({ database }: Store, { username }: AccountCredentials): Promise<SignIn[]> {
  const languages = ['es', 'ca', 'pt', 'fr'].flatMap((other) =>
    [`en:${other}`, `${other}:en`, ...(other === 'es' ? [] : [`es:${other}`])].map((pair) => {
      const [source_language, target_language] = pair.split(':') as [string, string];
      return { source_language, target_language };
    }),
  );
  const { ref } = await accountNamed(database, username);
  const people: (NewPerson & { who: string })[] = [
    {
      who: 'editor',
      role: 'editor',
      email: 'editor@example.com',
      name: 'Elena Editor',
      languages: languages.map((pair) => ({ ...pair, review: false })),
    },
    {
      who: 'reviewer',
      role: 'editor',
      email: 'reviewer@example.com',
      name: 'Rafael Reviewer',
      languages: languages.map((pair) => ({ ...pair, review: true })),
    },
    {
      who: 'customer',
      role: 'customer',
      email: `${username}@example.com`,
      name: 'Carla Customer',
      account: ref,
    },
    { who: 'operator', role: 'operator', email: 'operator@example.com', name: 'Olaf Operator' },
  ];
  const made: SignIn[] = [];
  for (const { who, ...person } of people) {
    const password = randomBytes(12).toString('base64url');
    const existing = await personNamed(database, person.email).catch((error: unknown) => {
      if (error instanceof AccountError) return undefined;
      throw error;
    });
    if (existing === undefined) await createPerson(database, 'command', { ...person, password });
    else {
      await setPassword(database, 'command', existing, password);
      await setLanguages(database, 'command', existing, person.languages ?? []);
    }
    made.push({ who, email: person.email, password });
  }
  return made;
}

async function stayUp(
  url: string,
  receiver: Receiver,
  credentials: AccountCredentials,
  people: SignIn[],
): Promise<void> {
  const signIns = people.map(
    ({ who, email, password }) => `  ${who.padEnd(10)}   ${email.padEnd(26)} password ${password}`,
  );
  print(`
The server stays up. Stop it with Ctrl-C.

  production   ${url}/tapi/v2/…              key ${credentials.production_key}
  sandbox      ${url}/sandbox/tapi/v2/…      key ${credentials.sandbox_key}
  callbacks    ${receiver.url}/anything      prints what it receives

Sign in at ${url}/app/ as

${signIns.join('\n')}

Paste this to translate a sentence of your own:

  curl -s ${url}/tapi/v2/mt_translation/ \\
    -H 'Authorization: ApiKey ${credentials.production_key}' \\
    -H 'Content-Type: application/json' \\
    -d '{"text":"The sea is calm today.","source_language":"en","target_language":"es","callback_url":"${receiver.url}/mine"}'
`);
  receiver.print();
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  say('\nStopping …');
}

interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  body: string;
}

interface Receiver {
  url: string;
  /** Waits for a request at `/name`. Rejects with a CommandError when no request arrives in time. */
  next(name: string, milliseconds: number): Promise<ReceivedRequest>;
  /** Prints every request that arrives from now on. */
  print(): void;
  close(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const arrived = new Map<string, PromiseWithResolvers<ReceivedRequest>>();
  const slot = (name: string) => {
    if (!arrived.has(name)) arrived.set(name, Promise.withResolvers());
    return arrived.get(name)!;
  };
  let printing = false;
  const server: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      response.writeHead(204).end();
      slot((request.url ?? '').slice(1)).resolve({ headers: request.headers, body });
      if (printing) print(indent('received  ', body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next(name, milliseconds) {
      const timeout = setTimeout(
        () => slot(name).reject(new CommandError('The callback did not arrive.')),
        milliseconds,
      );
      return slot(name).promise.finally(() => clearTimeout(timeout));
    },
    print() {
      printing = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
