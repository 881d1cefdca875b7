import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { xliff } from '../../test/helpers.ts';
import { countWords, detectLanguage, scan } from '../documents.ts';
import { readNgrams } from './language.ts';

const offered = ['en', 'de', 'fr', 'es', 'pt-br', 'nb', 'id', 'zh-hans', 'zh-hant', 'ja', 'ru'];

test.each([
  ['The quick brown fox jumps over the lazy dog and runs away.', 'en'],
  ['Der schnelle braune Fuchs springt über den faulen Hund und läuft weg.', 'de'],
  ['Saya tidak tahu apa yang harus saya lakukan dengan semua barang ini.', 'id'],
  ['Jeg vet ikke hva jeg skal gjøre med alle disse tingene akkurat nå.', 'nb'],
  ['Eu não sei o que devo fazer com todas essas coisas agora.', 'pt-br'],
  ['我们不知道这些东西应该怎么处理。', 'zh-hans'],
  ['我們不知道這些東西應該怎麼處理。', 'zh-hant'],
  ['これをどうすればいいのか分かりません。', 'ja'],
])('language detection recognizes: %s', (text, language) => {
  expect(detectLanguage(scan(text, 'text'), offered)).toEqual({ language });
});

test('language detection ignores markup, variables and URLs', () => {
  const html =
    '<div class="der die das und"><code>{{the_name}}</code> https://www.beispiel.example/der/die/das/und <p>Where is the nearest station, please?</p></div>';
  expect(detectLanguage(scan(html, 'html'), offered)).toEqual({ language: 'en' });
});

test.each([
  ['Hello', 'en'],
  ['Bonjour', 'fr'],
  ['¿Qué?', 'es'],
  ['谢谢', 'zh-hans'],
  ['Привет', 'ru'],
  ['Guten Morgen zusammen', 'de'],
])('language detection recognizes a text of one or two words: %s', (text, language) => {
  expect(detectLanguage(scan(text, 'text'), offered)).toEqual({ language });
});

test.each(['12 34', '👍', '{x} https://the.quick.brown.example/fox/jumps/over'])(
  'language detection returns languageUndetermined for a text without letters: %s',
  (text) => {
    expect(detectLanguage(scan(text, 'text'), offered)).toHaveProperty('languageUndetermined');
  },
);

test('language detection returns the only offered language, even if no detector supports it', () => {
  const document = scan('The quick brown fox jumps over it.', 'text');
  expect(detectLanguage(document, ['xx'])).toEqual({ language: 'xx' });
  expect(detectLanguage(document, ['xx', 'en'])).toEqual({ language: 'en' });
  expect(detectLanguage(document, [])).toHaveProperty('languageUndetermined');
});

test('language detection returns an offered language of the n-gram detector for a word that neither of the two detectors recognizes', () => {
  expect(detectLanguage(scan('Hello', 'text'), ['aa', 'da', 'en', 'es'])).not.toEqual({ language: 'aa' });
  expect(detectLanguage(scan('Grazie', 'text'), ['aa', 'bb', 'it'])).toEqual({ language: 'it' });
});

test('language detection returns an offered language even if no offered language uses the script of the text', () => {
  expect(['en', 'es']).toContain(
    (detectLanguage(scan('Привет', 'text'), ['en', 'es']) as { language: string }).language,
  );
});

test('language detection prefers recently used languages only when the scores are close or the languages differ only in region', () => {
  const languageOf = (text: string, recent: string[]) =>
    detectLanguage(scan(text, 'text'), ['ca', 'es', 'gl', 'pt', 'pt-br', 'da', 'nb'], recent);
  expect(languageOf('Hola', ['ca'])).toEqual({ language: 'ca' });
  expect(languageOf('Hola', ['es', 'ca'])).toEqual({ language: 'es' });
  expect(languageOf('¿Dónde está mi pedido?', ['ca'])).toEqual({ language: 'es' });
  expect(languageOf('Não sei onde está o meu pedido.', ['ca', 'pt-br'])).toEqual({ language: 'pt-br' });
});

test('language detection returns the language that an XLIFF document declares, whatever the text is', () => {
  const text = (language: string) =>
    xliff('<trans-unit id="1"><source>Der schnelle braune Fuchs springt.</source></trans-unit>').replace(
      '"en"',
      `"${language}"`,
    );
  expect(detectLanguage(scan(text('en-US'), 'xliff'), offered)).toEqual({ language: 'en' });
  expect(detectLanguage(scan(text('pt-BR'), 'xliff'), offered)).toEqual({ language: 'pt-br' });
  expect(detectLanguage(scan(text('no'), 'xliff'), offered)).toEqual({ language: 'nb' });
  expect(detectLanguage(scan(text('sw'), 'xliff'), offered)).toHaveProperty('languageUndetermined');
});

test.each([
  ['text', 'Hello, world! It is {name}, see https://a.example/b.', 5],
  ['text', 'one two\n\n3 4 5\n', 2],
  ['html', '<p title="a tip">Don’t <b>stop</b><script>no no</script></p><p translate="no">not me</p>', 4],
  ['srt', '1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i> there\n\n', 2],
  [
    'xliff',
    xliff(
      '<trans-unit id="1"><source>Two <x id="1"/>words</source><note>not these</note></trans-unit><trans-unit id="2" translate="no"><source>no</source></trans-unit>',
    ),
    2,
  ],
] as const)('countWords counts the words in %s', (format, text, count) => {
  expect(countWords(scan(text, format), 'en')).toBe(count);
});

test('readNgrams returns the same data as an import of the data module of eld', async () => {
  const path = new URL('../ngrams/extrasmall.js', import.meta.resolve('eld/extrasmall')).href;
  const { ngramsData } = (await import(path)) as { ngramsData: unknown };
  expect(isDeepStrictEqual(readNgrams(), ngramsData)).toBe(true);
});
