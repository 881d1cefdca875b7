/** Simulates a web page that is subscribed to live-update topics. */
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createBrowser, type TestPerson, until } from './harness.ts';

export interface TestSubscriber {
  status: number;
  /** The body of an error answer. */
  body: unknown;
  events: { event: string; data: Record<string, unknown> }[];
  readonly ended: boolean;
  /** Waits for the next event of a topic. */
  nextEvent(topic: string, event?: string): Promise<Record<string, unknown>>;
  disconnect(): void;
}

/** Subscribes as a user, in a new session unless `cookie` names one. */
export async function subscribe(
  url: string,
  person: Pick<TestPerson, 'email' | 'password'>,
  topics: readonly string[],
  more: { headers?: Record<string, string>; cookie?: string } = {},
): Promise<TestSubscriber & { call: TestPerson['call']; cookie: string }> {
  const browser = createBrowser(url);
  if (more.cookie === undefined) {
    const { email, password } = person;
    await browser.call('POST', '/api/session', { email, password });
  }
  const cookie = more.cookie ?? browser.cookie!;
  const query = new URLSearchParams(topics.map((topic): [string, string] => ['topic', topic]));
  const headers = { cookie, 'sec-fetch-site': 'same-origin', ...more.headers };
  const response = await open(`${url}/api/live?${query}`, headers);
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const subscriber = {
    status: response.statusCode!,
    body: isStream ? undefined : JSON.parse(await text(response)),
    events: [] as TestSubscriber['events'],
    ended: !isStream,
    async nextEvent(topic: string, event = 'changed') {
      const before = subscriber.events.length;
      return until(
        () =>
          subscriber.events.slice(before).find((one) => one.event === event && one.data.topic === topic)
            ?.data,
      );
    },
    disconnect: () => void response.destroy(),
    call: browser.call,
    cookie,
  };
  if (isStream) {
    void read(response, subscriber.events).finally(() => {
      subscriber.ended = true;
    });
  }
  return subscriber;
}

/** Opens the event stream over its own connection, without keep-alive. */
function open(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject);
  });
}

async function read(body: IncomingMessage, events: TestSubscriber['events']): Promise<void> {
  let buffered = '';
  body.setEncoding('utf8');
  try {
    for await (const chunk of body as AsyncIterable<string>) {
      buffered += chunk;
      const blocks = buffered.split('\n\n');
      buffered = blocks.pop()!;
      for (const block of blocks) {
        const [, event] = /^event: (\w+)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (event !== undefined) events.push({ event, data: JSON.parse(data!) });
      }
    }
  } catch {
    // The test or the server closed the connection.
  }
}
