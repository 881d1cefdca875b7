import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEPT_NUMBER, KEPT_WORD, sentenceEnds, splitLong } from './sentences.ts';

function parts(text: string, ends: number[]): string[] {
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

test.each([
  ['en', 'One. Two! Three?', ['One. ', 'Two! ', 'Three?']],
  ['en', 'Mr. Smith met Dr. Jones. They left.', ['Mr. Smith met Dr. Jones. ', 'They left.']],
  ['en', 'J. R. R. Tolkien wrote it. Yes.', ['J. R. R. Tolkien wrote it. ', 'Yes.']],
  ['en', 'She said "Go." He went.', ['She said "Go." ', 'He went.']],
  ['de', 'Am 5. Januar kam z. B. Anna. Sie ging.', ['Am 5. Januar kam z. B. Anna. ', 'Sie ging.']],
  ['fr', 'M. Dupont est là. Bien !', ['M. Dupont est là. ', 'Bien !']],
  ['zh', '你好。再见！', ['你好。', '再见！']],
  ['zh', '他说：“好。”然后走了。“真的吗？”她问。', ['他说：“好。”', '然后走了。', '“真的吗？”她问。']],
  ['ja', '彼は言った。「行こう！」（注）これは本。', ['彼は言った。', '「行こう！」', '（注）これは本。']],
  ['ja', '彼は「え？もう？」と聞いた。帰った。', ['彼は「え？もう？」と聞いた。', '帰った。']],
  ['fr', '« Viens. » Il partit. Elle dit : « Oui. »', ['« Viens. » ', 'Il partit. ', 'Elle dit : « Oui. »']],
  ['de', '»Komm.« Er ging. »Ja.«', ['»Komm.« ', 'Er ging. ', '»Ja.«']],
  ['es', 'Los EE. UU. y los JJ. OO. son. Fin.', ['Los EE. UU. y los JJ. OO. son. ', 'Fin.']],
  [
    'de',
    'Die GmbH & Co. KG, Dr. h. c. Ott, Gem. § 5, Hauptstr. 5 dort. Ja.',
    ['Die GmbH & Co. KG, Dr. h. c. Ott, Gem. § 5, Hauptstr. 5 dort. ', 'Ja.'],
  ],
  [
    'en',
    'Mt. Fuji, a.k.a. Fujisan, is in N.Y. City. No.',
    ['Mt. Fuji, a.k.a. Fujisan, is in N.Y. City. ', 'No.'],
  ],
  [
    'de',
    'Kurse, d. h. Kinder, u.U. Eltern, s.o. Text. Ende.',
    ['Kurse, d. h. Kinder, u.U. Eltern, s.o. Text. ', 'Ende.'],
  ],
  ['es', 'El Art. 5 vale. Fin.', ['El Art. 5 vale. ', 'Fin.']],
  [
    'ja',
    '終わりです。"最初"を見る。-Dは？"次"へ。',
    ['終わりです。', '"最初"を見る。', '-Dは？', '"次"へ。'],
  ],
  ['ja', '画面は5"です。次は6"です。終わり。', ['画面は5"です。', '次は6"です。', '終わり。']],
  ['ja', '"値は5"です。"次。6"と言った。終わり。', ['"値は5"です。', '"次。6"と言った。', '終わり。']],
  ['zh', '使用“a ...”替代。完。', ['使用“a ...”替代。', '完。']],
  ['es', 'Usa la opción -D. El perro va.', ['Usa la opción -D. ', 'El perro va.']],
  ['de', 'Eine Zahl von 1 bis 9. Das Ende.', ['Eine Zahl von 1 bis 9. ', 'Das Ende.']],
  ['de', 'Vom 1. bis 9. Mai. Das Ende.', ['Vom 1. bis 9. Mai. ', 'Das Ende.']],
  ['de', 'Zwischen dem 8 und 9. Mai ist frei. Ja.', ['Zwischen dem 8 und 9. Mai ist frei. ', 'Ja.']],
  ['de', 'Die 1 bis 3. Etage ist zu.', ['Die 1 bis 3. Etage ist zu.']],
  ['de', 'Klassen 5 und 6. Klasse', ['Klassen 5 und 6. Klasse']],
  ['tr', 'Kanunun 3 ve 4. Maddesi geçerlidir.', ['Kanunun 3 ve 4. Maddesi geçerlidir.']],
  ['hu', 'Az 1 és 2. Cikk szerint.', ['Az 1 és 2. Cikk szerint.']],
  ['da', 'Den 1 til 9. Maj', ['Den 1 til 9. Maj']],
  ['cs', 'Objekt PKCS#12. Byl přijat.', ['Objekt PKCS#12. ', 'Byl přijat.']],
  ['de', 'Sie endet mitten in ~/... /-Anweisung.', ['Sie endet mitten in ~/... /-Anweisung.']],
  ['ja', '彼は"はい。行きます。"と言った。終わり。', ['彼は"はい。行きます。"と言った。', '終わり。']],
  [
    'en',
    'Use the option -D. Write PDF/A. Then J.-P. Ott came.',
    ['Use the option -D. ', 'Write PDF/A. ', 'Then J.-P. Ott came.'],
  ],
  [
    'it',
    'Pane, vino, ecc. Poi basta, ecc. ecc. alla fine.',
    ['Pane, vino, ecc. ', 'Poi basta, ecc. ecc. alla fine.'],
  ],
  ['ru', 'Чай, кофе и т. д. Потом он ушёл.', ['Чай, кофе и т. д. ', 'Потом он ушёл.']],
  ['fr', 'Il a lu un roman d’A. Dumas hier. Fin.', ['Il a lu un roman d’A. Dumas hier. ', 'Fin.']],
  ['es', '¿J. Pérez viene hoy? Fin.', ['¿J. Pérez viene hoy? ', 'Fin.']],
  ['de', 'Siehe »A. Müller« und Karl-H. Müller. Ende.', ['Siehe »A. Müller« und Karl-H. Müller. ', 'Ende.']],
  [
    'en',
    'A book by **J. Smith** or Photo:J. Smith. End.',
    ['A book by **J. Smith** or Photo:J. Smith. ', 'End.'],
  ],
  ['pt', 'Eles eram dez. Depois saíram.', ['Eles eram dez. ', 'Depois saíram.']],
  ['pl', 'Cena wynosi 100 zł. Dostawa jest darmowa.', ['Cena wynosi 100 zł. ', 'Dostawa jest darmowa.']],
  ['en', 'He said, "..." Then he left.', ['He said, "..." ', 'Then he left.']],
  ['de', `Es sind ${KEPT_NUMBER}. Danach ist Ende.`, [`Es sind ${KEPT_NUMBER}. `, 'Danach ist Ende.']],
  ['he', 'הוא הלך.אחר כך בא.', ['הוא הלך.', 'אחר כך בא.']],
  ['zh', "使用 Users' guide。然后重启。", ["使用 Users' guide。", '然后重启。']],
  ['th', 'ชื่อเป็น “..” ได้', ['ชื่อเป็น “..” ได้']],
  ['ar', 'هل تريد؟ \u202bلهذا المستند.', ['هل تريد؟ ', '\u202bلهذا المستند.']],
  ['de', `In der ${KEPT_NUMBER}. Woche. Ende.`, [`In der ${KEPT_NUMBER}. Woche. `, 'Ende.']],
  ['es', `Con .a/.${KEPT_WORD}/.b es. Fin.`, [`Con .a/.${KEPT_WORD}/.b es. `, 'Fin.']],
  ['km', 'ខ្ញុំទៅ។ គាត់មក។', ['ខ្ញុំទៅ។ ', 'គាត់មក។']],
  [
    'en',
    'It ended at 5 p.m. Then the U.S. Army left Acme Inc. They stayed.',
    ['It ended at 5 p.m. ', 'Then the U.S. Army left Acme Inc. ', 'They stayed.'],
  ],
  [
    'de',
    'Das ist Nr. 5. Die andere kam am 5. Mai heim. 2. Der Hund.',
    ['Das ist Nr. 5. ', 'Die andere kam am 5. Mai heim. ', '2. Der Hund.'],
  ],
  ['es', '¿Vienes? - No. – Sí. - 5', ['¿Vienes? ', '- No. ', '– Sí. - 5']],
  ['not a tag', 'One. Two.', ['One. ', 'Two.']],
] as [string, string, string[]][])('sentenceEnds finds the sentences in %s: %s', (language, text, wanted) => {
  expect(parts(text, sentenceEnds(text, language))).toEqual(wanted);
});

test('sentenceEnds and splitLong neither lose nor duplicate text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom('en', 'de', 'ja', 'th'),
      (text, language) => {
        const ends = sentenceEnds(text, language);
        expect(parts(text, ends).join('')).toBe(text);
        expect([...ends].sort((a, b) => a - b)).toEqual(ends);
      },
    ),
  );
});

test('splitLong divides a long text after punctuation and never inside a character', () => {
  expect(parts('one two three four', splitLong('one two three four', 8))).toEqual([
    'one two ',
    'three ',
    'four',
  ]);
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      (text, limit) => {
        const cut = parts(text, splitLong(text, limit));
        expect(cut.join('')).toBe(text);
        for (const part of cut) {
          expect(part.length).toBeGreaterThan(0);
          expect(part.length).toBeLessThanOrEqual(limit);
          if (text.isWellFormed()) expect(part.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
