/** Tests of jobs in the four formats over HTTP. The fake engine translates to upper case. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INLINE_LENGTH } from '../../scanning/scanner.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer({ engine: () => createFake() });
  call = createClient(server.url, (await server.createAccount()).production_key);
});
afterAll(() => server.stop());

async function translate(text_format: string, text: string): Promise<string> {
  const created = await call('POST', MACHINE, {
    text,
    text_format,
    source_language: 'en',
    target_language: 'es',
  });
  expect(created.body).toMatchObject({ text, text_format });
  return until(async () => {
    const { body } = await call('GET', `${MACHINE}${created.body.uid}/`);
    return body.status === 'completed' && body.translated_text;
  });
}

const xliff = (units: string) =>
  `<?xml version="1.0"?>\r\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">` +
  `<file original="a" source-language="en" datatype="plaintext"><header/><body>${units}</body></file></xliff>\r\n`;

describe('a translated document', () => {
  it('keeps lines, white space, variables and URLs of plain text', async () => {
    expect(await translate('text', '  Hello, {name}!\r\n\r\n\tSee https://example.com/a?b=c now.\n')).toBe(
      '  HELLO, {name}!\r\n\r\n\tSEE https://example.com/a?b=c NOW.\n',
    );
  });

  it('keeps markup, comments and scripts of HTML, and replaces the content of a notranslate element by its attribute origval', async () => {
    const text =
      '<!-- keep --><p id=x>Big <b>house</b>, <i class="notranslate" origval="{{n}}">Ann</i></p><script>var a</script>';
    expect(await translate('html', text)).toBe(
      '<!-- keep --><p id=x>BIG <b>HOUSE</b>, <i class="notranslate" origval="{{n}}">{{n}}</i></p><script>var a</script>',
    );
  });

  it('keeps HTML white space around elements with translate="no", and treats “<?” in running text as text', async () => {
    const text =
      '<p>Really <? yes. The house is big.</p><p>The dog sleeps.</p><p>Who knows ?> well.</p>' +
      '<p>See \u0001\n\t<i translate="no">excluded text</i>\u0002 \n<i translate="no">more</i>\n  here.</p>';
    expect(await translate('html', text)).toBe(
      '<p>REALLY <? yes. The house is big.</p><p>THE DOG SLEEPS.</p><p>WHO KNOWS ?&gt; WELL.</p>' +
        '<p>SEE \u0001\n\t<i translate="no">excluded text</i>\u0002 \n<i translate="no">more</i>\n  HERE.</p>',
    );
  });

  it('has the value of the attribute origval as the content of an empty notranslate element of HTML', async () => {
    expect(await translate('html', '<p>Big <i class="notranslate" origval="{{n}}"/> house</p>')).toBe(
      '<p>BIG <i class="notranslate" origval="{{n}}">{{n}}</i> HOUSE</p>',
    );
  });

  it('keeps an SRT cue without letters, even between cues of one sentence', async () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\nThe house\n\n2\n00:00:02,000 --> 00:00:03,000\n7\n8\n';
    expect(await translate('srt', text)).toBe(text.replace('The house', 'THE HOUSE'));
  });

  it('has the value of origval between the bpt and ept of XLIFF that hold the tags of a notranslate element', async () => {
    const unit = (shown: string, words: string) =>
      `${words} <bpt id="1">&lt;b class="notranslate" origval="%C%"&gt;</bpt>${shown}<ept id="1">&lt;/b&gt;</ept>`;
    const units = (more: string) =>
      `<trans-unit id="1"><source>${unit('red house', 'Dear')}</source>${more}</trans-unit>`;
    expect(await translate('xliff', xliff(units('')))).toBe(
      xliff(units(`<target>${unit('%C%', 'DEAR')}</target>`)),
    );
  });

  it('keeps a plain-text word of six million letters', async () => {
    const word = 'a'.repeat(6_000_000);
    expect(await translate('text', `The house ${word} is big.`)).toBe(`THE HOUSE ${word} IS BIG.`);
  });

  it('keeps SRT numbers, times and tags', async () => {
    const text =
      '1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Hello there.</i>\r\n\r\n7\r\n00:00:03.5 --> 00:00:04\r\n- Yes.\r\n';
    expect(await translate('srt', text)).toBe(
      text.replace('Hello there.', 'HELLO THERE.').replace('Yes.', 'YES.'),
    );
  });

  it('keeps the header, comments, settings and tags of WebVTT', async () => {
    const text =
      'WEBVTT\nKind: captions\n\nNOTE a\n\nid\n00:01.000 --> 00:02.000 line:0\n<v Bo>Hello <b>there</b>.\n';
    expect(await translate('vtt', text)).toBe(text.replace('Hello', 'HELLO').replace('there', 'THERE'));
  });

  it('has a target in every XLIFF unit and no other change', async () => {
    const units = (first: string, second: string) =>
      `\r\n  <trans-unit id="1">\r\n    <source>A <g id="1">big</g> house</source>${first}\r\n  </trans-unit>` +
      `<trans-unit id="2" translate="no"><source>SKU-1</source>${second}</trans-unit>`;
    expect(await translate('xliff', xliff(units('', '')))).toBe(
      xliff(units('\r\n    <target>A <g id="1">BIG</g> HOUSE</target>', '<target>SKU-1</target>')),
    );
  });

  it('is complete when it was scanned by a scanner process', async () => {
    const unit = '<trans-unit id="1"><source>The house is big.</source></trans-unit>';
    const text = xliff(unit.repeat(Math.ceil(INLINE_LENGTH / unit.length) + 1));
    expect(await translate('xliff', text)).toBe(
      text.replaceAll('</source>', '</source><target>THE HOUSE IS BIG.</target>'),
    );
  });

  it('is identical to its source when it has no word to translate', async () => {
    expect(await translate('text', '12:30 – 14:00\n***\n')).toBe('12:30 – 14:00\n***\n');
  });
});

describe('a document that cannot be translated', () => {
  it.each([
    ['xliff', '<xliff version="2.0"></xliff>', /^text: .*XLIFF 2/],
    ['xliff', '<xliff version="1.2"><file>', /^text: .*line 1, column \d+/],
    ['xliff', 'not xml', /^text: .*line 1/],
    ['xliff', xliff(''), /^text: .*no trans-unit to translate/i],
    ['srt', 'Hello.', /^text: /],
    ['vtt', 'Hello.', /^text: .*WEBVTT.*line 1, column 1/],
    ['vtt', 'WEBVTT\n\n00:01,000 --> 00:02,000\nA\n', /^text: .*time line.*line 3, /],
  ])('is refused at creation: %s %j', async (text_format, text, error) => {
    const refused = await call('POST', MACHINE, {
      text,
      text_format,
      source_language: 'en',
      target_language: 'es',
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(error);
  });
});
