/** The mixed load of the soak proof: jobs of every format and tier, chats, lists, and requests of the web app. */
import { randomUUID } from 'node:crypto';
import type { Credentials } from '../../scripts/program.ts';

const PAIR = { source_language: 'en', target_language: 'es' };
const SENTENCE = 'The children walk to the school every day. Their mother works in the city.';
const TEXTS = {
  text: SENTENCE,
  html: `<p>${SENTENCE} <b>The house</b> is big.</p><ul><li>A red car stops.</li></ul>`,
  srt: `1\n00:00:01,000 --> 00:00:03,000\n${SENTENCE}\n\n2\n00:00:04,000 --> 00:00:05,000\nA red car stops.\n`,
  xliff: `<xliff version="1.2"><file original="a" source-language="en" target-language="es" datatype="plaintext"><body><trans-unit id="1"><source>${SENTENCE}</source></trans-unit></body></file></xliff>`,
};
const machine = '/tapi/v2/mt_translation/';
const human = '/sandbox/tapi/v2/translation/';
/** The number of messages in a chat, before the next chat starts. */
const MESSAGES = 20;

export interface Answer {
  status: number;
  /** The method and path of the request. */
  what: string;
  /** True if the request created a job or a message. */
  made: boolean;
}

export interface Load {
  /** Sends the next request of the mixed load. */
  next(): Promise<Answer>;
}

export interface Customer {
  account: Credentials;
  /** The email address and the password for signing in to the web app. */
  email: string;
  password: string;
}

export function createLoad(url: string, hook: string, { account, email, password }: Customer): Load {
  let count = 0;
  let messages = 0;
  let chat = randomUUID();
  let cookie = '';
  /** The cookie of the previous session, which concurrent requests may still use. */
  let earlier = '';
  /** The uid of an existing machine job. */
  let existing: string | undefined;

  async function ask(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response;
  }
  const byKey = (method: string, path: string, body?: object) =>
    ask(method, path, body, {
      authorization: `ApiKey ${path.startsWith('/sandbox') ? account.sandbox_key : account.production_key}`,
    });
  const inBrowserOf = (session: string, method: string, path: string) =>
    ask(method, path, undefined, { cookie: session, 'sec-fetch-site': 'same-origin' });
  const inBrowser = (method: string, path: string) => inBrowserOf(cookie, method, path);

  async function job(path: string, format: keyof typeof TEXTS) {
    const uid = randomUUID();
    const body = { ...PAIR, uid, text: TEXTS[format], text_format: format, callback_url: `${hook}/${uid}` };
    const { status } = await byKey('POST', path, body);
    if (path === machine && status === 201) existing = uid;
    return { status, what: `POST ${path} ${format}`, made: true };
  }
  async function message() {
    if (messages++ % MESSAGES === 0) chat = randomUUID();
    const id = randomUUID();
    const body = {
      ...PAIR,
      chat_external_id: chat,
      external_id: id,
      text: SENTENCE,
      text_format: 'text',
      callback_url: `${hook}/${id}`,
    };
    const path = '/v2/chats/messages';
    return { status: (await byKey('POST', path, body)).status, what: `POST ${path}`, made: true };
  }
  async function get(by: typeof byKey, path: string) {
    return { status: (await by('GET', path)).status, what: `GET ${path}`, made: false };
  }

  const mixture: readonly (() => Promise<Answer>)[] = [
    () => job(machine, 'text'),
    () => get(byKey, `${machine}?limit=20`),
    () => job(human, 'html'),
    message,
    () => job(machine, 'html'),
    () => get(inBrowser, '/api/account/jobs'),
    () => job(human, 'srt'),
    () => get(byKey, `${machine}${existing === undefined ? '' : `${existing}/`}`),
    message,
    () => job(machine, 'xliff'),
    () => get(byKey, '/api/v1/deliveries/?limit=20'),
    () => job(human, 'text'),
    () => get(inBrowser, '/api/me'),
    message,
    () => job(machine, 'srt'),
    () => get(byKey, '/tapi/v2/account/'),
  ];
  /** The number of requests between two sign-ins. Signing in is slow on purpose, so it is rare here. */
  const SIGN_IN_EVERY = 500;

  return {
    async next() {
      const turn = count++;
      if (turn % SIGN_IN_EVERY !== 0) return mixture[turn % mixture.length]!();
      if (earlier !== '') await inBrowserOf(earlier, 'DELETE', '/api/session');
      earlier = cookie;
      const response = await ask(
        'POST',
        '/api/session',
        { email, password },
        { 'sec-fetch-site': 'same-origin' },
      );
      cookie = response.headers
        .getSetCookie()
        .map((one) => one.split(';')[0]!)
        .join('; ');
      return { status: response.status, what: 'POST /api/session', made: false };
    },
  };
}
