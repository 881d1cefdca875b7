/** A page that looks on, as tests see it. */
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createBrowser, type TestPerson, until } from './harness.ts';

export interface TestOnlooker {
  status: number;
  /** What a refusal said. */
  body: unknown;
  /** What has been heard so far. */
  events: { event: string; data: Record<string, unknown> }[];
  /** Whether the stream is over. */
  readonly over: boolean;
  /** Waits for a hint about a topic, from now on. */
  hears(topic: string, event?: string): Promise<Record<string, unknown>>;
  leave(): void;
}

/** Looks on as a person, in a session of its own. */
export async function lookOn(
  url: string,
  person: Pick<TestPerson, 'email' | 'password'>,
  topics: readonly string[],
  more: { headers?: Record<string, string>; cookie?: string } = {},
): Promise<TestOnlooker & { call: TestPerson['call']; cookie: string }> {
  const browser = createBrowser(url);
  if (more.cookie === undefined) {
    const { email, password } = person;
    await browser.call('POST', '/api/session', { email, password });
  }
  const cookie = more.cookie ?? browser.cookie!;
  const asked = new URLSearchParams(topics.map((topic): [string, string] => ['topic', topic]));
  const headers = { cookie, 'sec-fetch-site': 'same-origin', ...more.headers };
  const response = await ask(`${url}/api/live?${asked}`, headers);
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const onlooker = {
    status: response.statusCode!,
    body: isStream ? undefined : JSON.parse(await text(response)),
    events: [] as TestOnlooker['events'],
    over: !isStream,
    async hears(topic: string, event = 'changed') {
      const before = onlooker.events.length;
      return until(
        () =>
          onlooker.events.slice(before).find((one) => one.event === event && one.data.topic === topic)?.data,
      );
    },
    leave: () => void response.destroy(),
    call: browser.call,
    cookie,
  };
  if (isStream) {
    void read(response, onlooker.events).finally(() => {
      onlooker.over = true;
    });
  }
  return onlooker;
}

/** On a connection of its own, which nobody keeps. */
function ask(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject);
  });
}

async function read(body: IncomingMessage, events: TestOnlooker['events']): Promise<void> {
  let heard = '';
  body.setEncoding('utf8');
  try {
    for await (const chunk of body as AsyncIterable<string>) {
      heard += chunk;
      const blocks = heard.split('\n\n');
      heard = blocks.pop()!;
      for (const block of blocks) {
        const [, event] = /^event: (\w+)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (event !== undefined) events.push({ event, data: JSON.parse(data!) });
      }
    }
  } catch {
    // It was left, or cut.
  }
}
