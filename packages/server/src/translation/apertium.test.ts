/**
 * Tests of the whole service with Apertium itself: jobs are created over HTTP, and callbacks deliver their
 * translations.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApertiumEngine, createApertium, findApertium } from '@dragoman/engines';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apertiumWith, privateApertium } from '../../../../scripts/test-tools.ts';
import { createLog } from '../base/log.ts';
import { startServer } from '../roles/serve.ts';
import {
  createClient,
  createTestDatabase,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const { missing } = await findApertium(privateApertium());

if (missing.length === 0) describe('with Apertium', withApertium);
else {
  const sentence = `Apertium is not whole here (${missing.join(', ')}); run: node scripts/prepare-tests.ts`;
  if (process.env.CI === 'true') {
    it(sentence, () => {
      throw new Error(sentence);
    });
  } else it.skip(sentence, () => {});
}

function withApertium(): void {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-apertium-'));
  let engine: ApertiumEngine;
  let server: TestServer;
  let receiver: Receiver;
  let call: ReturnType<typeof createClient>;

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startTestServer({
      engine: () => {
        engine = createApertium(apertiumWith(root, ['eng-spa', 'eng-cat', 'cat-fra']));
        return engine;
      },
    });
    call = createClient(server.url, (await server.createAccount()).production_key);
  });
  afterAll(async () => {
    await server.stop();
    await receiver.close();
    rmSync(root, { recursive: true });
  });

  /** Creates a job whose callback goes to a path named after its uid. */
  async function order(uid: string, text: string, fields: object = {}): Promise<void> {
    const callback_url = `${receiver.url}/${uid}`;
    const body = { uid, text, source_language: 'en', target_language: 'es', callback_url, ...fields };
    expect((await call('POST', MACHINE, body)).status).toBe(201);
  }

  /** Returns the translated text from the callback of a job. */
  async function arrived(uid: string): Promise<string> {
    const { body } = await receiver.next(({ path }) => path === `/${uid}`);
    const { status, failure, translated_text } = JSON.parse(body);
    expect({ status, failure }).toEqual({ status: 'completed', failure: undefined });
    expect((await call('GET', `${MACHINE}${uid}/`)).body.translated_text).toBe(translated_text);
    return translated_text;
  }

  async function translated(uid: string, text: string, fields: object = {}): Promise<string> {
    await order(uid, text, fields);
    return arrived(uid);
  }

  it('a job through Apertium leaves segments in other languages unchanged and translates the other segments', async () => {
    const russian = 'Привет, как дела? Это довольно длинное предложение на русском языке.';
    await order('kept', `The house is big.\n${russian}\n𝐛𝐨𝐥𝐝 𝐥𝐞𝐭𝐭𝐞𝐫𝐬\nThe red door.`);
    expect(await arrived('kept')).toBe(`La casa es grande.\n${russian}\n𝐛𝐨𝐥𝐝 𝐥𝐞𝐭𝐭𝐞𝐫𝐬\nLa puerta roja.`);
  });

  it('a job through Apertium is translated from English into Spanish', async () => {
    const text = await translated(
      'paragraph',
      'The house is big. Every summer, the family opens the windows.\r\n\r\nIn winter, nobody comes here.\r\n',
    );
    expect(text).toMatch(
      /^La casa es grande\. [^\r\n]*familia[^\r\n]*\.\r\n\r\n[^\r\n]*invierno[^\r\n]*\.\r\n$/,
    );
  });

  it('a job through Apertium is translated from English into French through a pivot, because no direct pair exists', async () => {
    const seen: { from: string; to: string }[][] = [];
    const note = (directions: readonly { from: string; to: string }[]) => void seen.push([...directions]);
    const offered = await engine.directions({ begun: note, passed: note });
    // First all that will be tested, then those of one mode after another.
    const [begun, ...passed] = seen;
    expect(begun).toEqual(offered);
    expect(passed.length).toBeGreaterThan(offered.length / 4);
    expect(new Set(passed.flat())).toEqual(new Set(offered));
    expect(offered.find(({ from, to }) => from === 'en' && to === 'fr')?.hops).toBe(2);
    const text = await translated('hops', 'The house is big.', { target_language: 'fr' });
    expect(text).toBe('La maison est grande.');
  });

  it('a job is refused when no engine serves its language pair', async () => {
    const body = { text: 'The house.', source_language: 'en', target_language: 'tlh' };
    const refused = await call('POST', MACHINE, body);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^target_language: /) },
    });
  });

  it("a job through Apertium keeps every character that has a meaning in Apertium's stream format", async () => {
    const text = [
      'The [house] is {big} and <red> today.',
      'A ^caret, a $dollar, a /slash and a \\backslash.',
      'An @at, a *star, a #hash and a ~tilde: ^word/word<n>$ [[t:b:abc]] {{name}}.',
      '',
      '\tThe 👩‍👩‍👧‍👦 family — “quotes”, ¿signs?, 100 % of it…  ',
      'See https://example.com/a_b?c=d&e=%20f or write to ann@example.com.',
      '.[]',
      '^^^^$$$$[][[]]\\\\\\',
    ].join('\r\n');
    const translation = await translated('hostile', text);
    const lines = translation.split('\r\n');
    const sources = text.split('\r\n');
    expect(lines).toHaveLength(sources.length);
    const signs = (line: string) => (line.match(/[[\]{}<>^$/\\@*#~👩👧👦“”¿%…\t]/gu) ?? []).sort().join('');
    expect(lines.map(signs)).toEqual(sources.map(signs));
    expect(lines[2]).toContain('{{name}}');
    expect(lines[4]).toMatch(/^\t.*👩‍👩‍👧‍👦.* {2}$/u);
    expect(lines[5]).toContain('https://example.com/a_b?c=d&e=%20f');
    expect(lines[5]).toContain('ann@example.com');
    expect(lines[0]).toMatch(/casa/);
  });

  it('a job through Apertium keeps the markup of an HTML page while its text is translated', async () => {
    const page =
      '<!doctype html>\n<html lang="en"><head><title>The house</title>\n<style>p { color: red }</style></head>\n' +
      '<body class="a b"><p>The <b>big</b> house &amp; the <a href="/t?a=1&amp;b=2">table</a>.</p>\n' +
      '<!-- a note --><p class="notranslate">The house</p><script>var house = "The house";</script></body></html>\n';
    const translation = await translated('page', page, { text_format: 'html' });
    const tags = (html: string) => (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/lang="\w+"/, ''));
    expect(tags(translation).sort()).toEqual(tags(page).sort());
    expect(translation).toContain('<p class="notranslate">The house</p>');
    expect(translation).toContain('var house = "The house";');
    expect(translation).toContain('<style>p { color: red }</style>');
    expect(translation).toMatch(/<title>La casa<\/title>/);
  });

  it('a job through Apertium keeps the times of SRT subtitles', async () => {
    const subtitles =
      '1\n00:00:01,000 --> 00:00:03,500\nThe train leaves at ten,\n\n' +
      '2\n00:00:03,700 --> 00:00:06,000\nand the city is <i>very</i> big.\n';
    const translation = await translated('subtitles', subtitles, { text_format: 'srt' });
    const frame = (text: string) => text.split('\n').filter((line) => /^\d|^$/.test(line));
    expect(frame(translation)).toEqual(frame(subtitles));
    expect(translation).toMatch(/tren/);
    expect(translation).toMatch(/<i>.+<\/i>/);
    expect(translation).toMatch(/ciudad/);
  });

  it('a job through Apertium gives every unit of an XLIFF file a target, and leaves the sources unchanged', async () => {
    const file = `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="shop" source-language="en" target-language="es" datatype="plaintext">
    <body>
      <trans-unit id="1"><source>The house is big.</source></trans-unit>
      <trans-unit id="2"><source>The table is <g id="1">red</g> &amp; costs <x id="2"/> euros.</source></trans-unit>
    </body>
  </file>
</xliff>
`;
    const translation = await translated('file', file, { text_format: 'xliff' });
    const sources = (text: string) => text.match(/<source>.*?<\/source>/gs);
    expect(sources(translation)).toEqual(sources(file));
    const targets = [...translation.matchAll(/<target[^>]*>(.*?)<\/target>/gs)].map(([, target]) => target);
    expect(targets[0]).toBe('La casa es grande.');
    expect(targets[1]).toMatch(/mesa/);
    for (const code of ['<g id="1">', '</g>', '<x id="2"/>', '&amp;']) expect(targets[1]).toContain(code);
    expect(targets).toHaveLength(2);
  });

  it('a worker with Apertium that stops before all pairs are tested leaves the test to the next start', async () => {
    const fresh = await createTestDatabase();
    const halfway = createApertium(privateApertium());
    const starting = await startServer({
      store: { ...server.store, database: fresh.database, connection: fresh.connection },
      settings: server.settings,
      role: 'worker',
      engines: () => [halfway],
      log: createLog('silent'),
    });
    const asking = halfway.directions().catch((error: Error) => error);
    await until(() => halfway.pipelines().length > 0);
    await starting.stop();
    expect(await asking).toBeInstanceOf(Error);
    const owner = await fresh.connectOwner();
    const { rows } = await owner.query(
      `select count(*)::integer as all, count(*) filter (where engine_version not in ('testing', 'untested'))::integer as done
         from pairs`,
    );
    expect(rows).toEqual([{ all: expect.any(Number), done: 0 }]);
    expect(rows[0].all).toBeGreaterThan(0);
    await fresh.drop();
  });

  it('every job completes when a process of an Apertium pipeline is killed', async () => {
    // Each text is different, because a repeated text would be answered from the cache.
    const textOf = (job: number) =>
      Array.from({ length: 12 }, (_, n) => `The house number ${job}${n} is big and red.`).join('\n');
    const expectedOf = (job: number) => whole.replaceAll(/\d+/g, (number) => `${job}${number.slice(1)}`);
    const whole = await translated('whole', textOf(1));
    const pipeline = () =>
      engine.pipelines().find(({ mode, lane }) => mode === 'eng-spa' && lane === 'bulk')!;
    const before = pipeline();
    const victim = before.pids[3]!;
    // SIGSTOP halts the process before the jobs are created, so that it cannot finish any job before it is killed.
    process.kill(victim, 'SIGSTOP');
    const jobs = Array.from({ length: 24 }, (_, n) => n + 2);
    await Promise.all(jobs.map((job) => order(`killed-${job}`, textOf(job))));
    await until(() => pipeline().busy);
    process.kill(victim, 'SIGKILL');
    for (const job of jobs) expect(await arrived(`killed-${job}`)).toBe(expectedOf(job));
    expect(await translated('after', textOf(99))).toBe(expectedOf(99));
    expect(pipeline().pids).not.toContain(victim);
    expect(pipeline().restarts).toBe(before.restarts + 1);
  });
}
