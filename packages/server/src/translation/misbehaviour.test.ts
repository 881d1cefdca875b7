/**
 * Tests jobs whose engine is a remote service that misbehaves, for each protocol. A job may deliver a right translation,
 * or the source of a sentence that it reports as untranslated. It must never deliver anything else.
 */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makers } from '../../../engines/test/servers/makers.ts';
import { stopServices, swap } from '../../../engines/test/servers/service.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';

/** Changes the reply for one sentence. */
type Bend = (reply: string) => string;
const tags = /<[^<>]*>/g;
const MISBEHAVIOURS: Record<string, Bend> = {
  'drops tags and placeholders': (reply) => reply.replace(tags, '').replace(/\{\w+\}/, ''),
  'doubles tags': (reply) => reply.replace(tags, '$&$&'),
  'doubles a placeholder': (reply) => reply.replace(/\{\w+\}|<(\w+)[^<>]*>[^<>]*<\/\1>/, '$& $&'),
  'reverses the order of the tags': (reply) => {
    const all = reply.match(tags) ?? [];
    return reply.replace(tags, () => all.pop()!);
  },
  'translates tags and placeholders': (reply) =>
    reply.replace(/<(\/?)\w+/g, '<$1etiqueta').replace(/\{\w+\}/, '{nombre}'),
  'adds a tag': (reply) => `<i>${reply}</i>`,
  'adds a script': (reply) => `${reply}<script>alert(1)</script>`,
  'adds a placeholder': (reply) => `${reply} {other}`,
  'changes numbers in tags': (reply) => reply.replace(/(<[^<>]*)\d+/g, '$19'),
  'adds quotes': (reply) => `"${reply}"`,
  'adds an explanation': (reply) => `${reply}\n\nNote: I kept the placeholder as it is.`,
  'begins with an announcement': (reply) => `Sure, here is the translation:\n\n${reply}`,
  'begins with an announcement in the same line': (reply) => `Here is the translation: ${reply}`,
  'wraps in a fence': (reply) => `\`\`\`html\n${reply}\n\`\`\``,
  'adds line breaks': (reply) => `\n${reply}\n`,
  'adds an escaped line break': (reply) => `${reply}\\n`,
  'escapes entities twice': (reply) => reply.replaceAll('&', '&amp;'),
  'is empty': () => '',
  'is white space': () => ' \n ',
  'cuts the reply off': (reply) => reply.slice(0, reply.length / 3),
  'has broken characters': (reply) => reply.replace(/[aeiou]/gi, '\ufffd'),
  'is huge': (reply) => reply.repeat(2_000),
  'repeats itself': (reply) => `${reply} ${reply}`,
  apologizes: () => "I'm sorry, but I cannot translate this text.",
  'has control characters': (reply) => reply.replaceAll(' ', '\u0001'),
};
const LISTS: Record<string, (replies: string[]) => string[]> = {
  'returns fewer segments': (replies) => replies.slice(1),
  'returns more segments': (replies) => [...replies, 'one more'],
  'returns the segments in another order': (replies) => replies.toReversed(),
};

const NAMES = [...Object.keys(MISBEHAVIOURS), ...Object.keys(LISTS)];

/** Returns the paragraphs of a page, of which the last has tags, a placeholder and an entity. */
function pageOf(number: number): { sources: string[]; special: string } {
  const plain = Array.from(
    { length: 24 },
    (_, index) => `Plain line ${number}.${index} of the long page here`,
  );
  const special = `The <b>red</b> house ${number} of {name} &amp; of <a href="/a">my friend</a> is big`;
  return { sources: [...plain, special], special };
}

/** Misbehaves in the way that the number of the page in the replies selects. */
function misbehave(replies: string[]): string[] {
  const number = Number(/ (1\d\d)\b/.exec(replies.join(' '))?.[1]);
  const name = NAMES[number - FIRST];
  if (name === undefined) return replies;
  const list = LISTS[name];
  if (list !== undefined) return replies.length > 1 ? list(replies) : replies;
  return replies.map((reply) => (/HOUSE/i.test(reply) ? MISBEHAVIOURS[name]!(reply) : reply));
}
const FIRST = 100;

describe.each(makers)('a job by the protocol of $name', ({ start }) => {
  let server: TestServer;
  let owner: pg.Client;
  let call: ReturnType<typeof createClient>;
  /** The uids of the jobs by misbehaviour. All are translated at the same time. */
  const uids = new Map<string, string>();
  beforeAll(async () => {
    const { service, make } = await start();
    service.bend(misbehave);
    server = await startTestServer({ engine: () => make() });
    owner = await server.connectOwner();
    call = createClient(server.url, (await server.createAccount()).production_key);
    for (const [index, name] of NAMES.entries()) {
      const text = pageOf(FIRST + index)
        .sources.map((line) => `<p>${line}</p>`)
        .join('\n');
      const job = { text, text_format: 'html', source_language: 'en', target_language: 'es' };
      const { status, body } = await call('POST', MACHINE, job);
      expect(status).toBe(201);
      uids.set(name, body.uid);
    }
  });
  afterAll(async () => {
    await server.stop();
    await stopServices();
  });

  /** Waits for a job. Jobs that wait for another attempt are due at once. */
  async function finished(uid: string) {
    return until(async () => {
      await owner.query('update jobs set due_at = now() where due_at > now() and lease_token is null');
      const { body } = await call('GET', `${MACHINE}${uid}/`);
      return ['completed', 'failed'].includes(body.status) ? body : undefined;
    });
  }

  /** Checks that each paragraph has its translation, or its source if the job reports as many as untranslated. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer
  function expectNothingWrong(job: any, { sources, special }: ReturnType<typeof pageOf>) {
    expect(job.status).toBe('completed');
    const lines = (job.translated_text as string).split('\n');
    expect(lines).toHaveLength(sources.length);
    let untranslated = 0;
    for (const [index, line] of lines.entries()) {
      const source = sources[index]!;
      if (line === `<p>${source}</p>`) {
        untranslated += 1;
        continue;
      }
      const right =
        source === special
          ? special.replace(/<[^<>]*>|&\w+;|\{\w+\}|[^<>&{]+/g, (part) =>
              /^[<&{]/.test(part) ? part : swap(part),
            )
          : swap(source);
      // Tags and placeholders may have another place among the right words.
      expect(partsOf(line.slice(3, -4))).toEqual(partsOf(right));
    }
    expect(job.untranslated ?? 0).toBe(untranslated);
  }

  it.each(NAMES)('delivers nothing wrong when the service %s', async (name) => {
    expectNothingWrong(await finished(uids.get(name)!), pageOf(FIRST + NAMES.indexOf(name)));
  });
});

/** The words of a line in order, and its markup and placeholders in any order. */
function partsOf(line: string): { words: string; markup: string[] } {
  const markup = /<[^<>]*>|&\w+;|\{\w+\}/g;
  return {
    words: line.replace(markup, ' ').replace(/\s+/g, ' ').trim(),
    markup: (line.match(markup) ?? []).sort(),
  };
}
