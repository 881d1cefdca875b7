import { describe, expect, it } from 'vitest';
import type { CheckId } from '../src/checks.ts';
import { found, type Row, verdict } from './reading.ts';

const rows = (id: CheckId, all: Row[]) =>
  describe(id, () => {
    it.each(all)(
      'automatic check reports exactly the expected findings when (%s) %j is translated as %j',
      (...row) => {
        expect(verdict(id, row)).toEqual(row[3]);
      },
    );
  });

rows('numbers', [
  ['en>de', '1,234.5 m', '1.234,5 m', []],
  ['en>fr', '1,234.5 m', '1\u202f234,5 m', []],
  ['en>pl', '1,234.5 m', '1 234,5 m', []],
  ['en>de', '1,234 m', '1.234 m', []],
  ['en>de', '1,234 m', '1,234 m', ['missing 1,234', 'unknown 1,234 [1,234]']],
  ['en>es', '1,234 m', '1,234 m', []],
  ['en>es', '1,234 m', '1234 m', []],
  ['en>de', '1.50 m', '1,5 m', []],
  ['en>de', '1.5 m', '15 m', ['missing 1.5', 'unknown 15 [15]']],
  ['en>de', '12,345,678', '12.345.678', []],
  ['en>de-ch', '12,345.60', '12’345.60', []],
  ['en>hi', '1,234,567', '12,34,567', []],
  ['en>ar', '1,234.5', '١٬٢٣٤٫٥', []],
  ['en>fa', '25', '۲۵', []],
  ['en>zh', 'Chapter 3', '第3章', []],
  ['en>zh', '1.5 million people', '150万人', []],
  ['en>ja', '10,000 yen', '1万円', []],
  ['en>ja', '10,000 yen', '2万円', ['missing 10,000', 'unknown 2 [2]']],
  ['en>de', '2 files', '3 Dateien', ['missing 2', 'unknown 3 [3]']],
  ['en>de', 'Press 3.', 'Drücken Sie die Taste.', ['missing 3']],
  ['en>de', 'March 3, 2024', '3. März 2024', []],
  ['en>de', '10/3/2024', '03.10.2024', []],
  ['en>de', 'March 3, 2024', '03.03.2024', []],
  ['en>ja', 'March 3, 2024', '2024年3月3日', []],
  ['en>fr', 'the 1st of May', 'le premier mai', []],
  ['en>fr', 'the 21st century', 'le XXIe siècle', ['missing 21']],
  ['en>de', 'at 3 PM', 'um 15 Uhr', []],
  ['en>de', 'at 2:30 p.m.', 'um 14:30 Uhr', []],
  ['en>de', 'at 12:30', 'um 12.30 Uhr', []],
  ['en>de', 'two files', '2 Dateien', []],
  ['en>de', 'an MP3', 'eine MP3-Datei', []],
  ['en>fr', 'In 2023 150 people', 'En 2023, 150 personnes', []],
  ['en>de', 'version 1.2.3', 'Version 1.2.3', []],
  ['en>de', '5 and 5', '5', ['missing 5']],
  ['en>de', 'No. {1:5}', 'Nr. {1:5}', []],
]);

rows('doubled-spaces', [
  ['en>es', 'A house.', 'Una  casa.', ['[  ]']],
  ['en>es', 'A  house.', 'Una  casa.', []],
  ['en>es', 'A house.', 'Una \u00a0casa.', ['[ \u00a0]']],
  ['en>es', 'A <1/> house.', 'Una <1/> casa.', []],
]);

rows('end-mark', [
  ['en>es', 'A house.', 'Una casa.', []],
  ['en>es', 'A house.', 'Una casa', ['.  []']],
  ['en>es', 'A house', 'Una casa.', ['. [.]']],
  ['en>es', 'A house?', '¿Una casa!', ['? ! [!]']],
  ['en>zh', 'A house.', '房子。', []],
  ['en>ja', '“A house?”', '「家？」', []],
  ['en>el', 'A house?', 'Ένα σπίτι;', []],
  ['en>ar', 'A house?', 'بيت؟', []],
  ['en>hi', 'A house.', 'एक घर।', []],
  ['en>th', 'A house.', 'บ้าน', []],
  ['en>es', 'Wait...', 'Espera…', []],
  ['en>es', 'Wait…', 'Espera.', ['… . [.]']],
  ['en>de', 'He said: “Go.”', 'Er sagte: „Geh.“', []],
  ['en>es', 'See <1>this.</1>', 'Vea <1>esto.</1>', []],
  ['en>es', 'Really?!', '¿De verdad?', []],
  ['en>es', 'Name:', 'Nombre :', []],
]);

rows('punctuation', [
  ['en>fr', 'Really?', 'Vraiment ?', []],
  ['en>fr', 'Really?', 'Vraiment\u202f?', []],
  ['en>fr', 'Really?', 'Vraiment?', ['space-missing ? [?]']],
  ['en>fr', '“Yes”: no', '«Oui»: non', ['space-missing » [»]', 'space-missing « [«]']],
  ['en>fr', '“Yes”', '« Oui »', []],
  ['en>fr', 'Time: 10:30', 'Heure : 10:30', []],
  ['en>fr', 'See a', 'Voir https://a.example/x?y=1', []],
  ['en>fr-ca', 'Really?', 'Vraiment?', []],
  ['en>de', 'Really?', 'Wirklich ?', ['space-before ? [ ?]']],
  ['en>de', 'Hi :)', 'Hallo :)', []],
  ['en>de', 'Your order. End.', 'Ihre Bestellung . Ende.', ['space-before . [ .]']],
  ['en>de', 'End. Start.', 'Ende.Anfang.', ['space-missing . [.]']],
  ['en>de', 'Use .NET and wait ...', 'Mit .NET warten ...', []],
  ['en>es', 'Really?', '¿De verdad?', []],
  ['en>es', 'Really?', 'De verdad?', ['opening-missing ? ¿ [?]']],
  ['en>es', 'Go! Now!', '¡Ve! Ya!', ['opening-missing ! ¡ [!]']],
  ['en>es', 'What?!', '¡¿Qué?!', []],
  ['en>es', 'But… how?', '¿Pero... cómo?', []],
  ['en>zh', 'Yes, sir.', '是,先生。', ['wrong-mark , ， [,]']],
  ['en>zh', 'Version', '版本 1.2, a.b', []],
  ['en>ja', 'Yes.', 'はい.', ['wrong-mark . 。 [.]']],
  ['en>el', 'Really?', 'Αλήθεια?', ['wrong-mark ? ; [?]']],
  ['en>el', 'Really?', 'Αλήθεια;', []],
  ['en>ar', 'Really?', 'حقا?', ['wrong-mark ? ؟ [?]']],
  ['en>ar', 'Yes, sir', 'نعم، سيدي', []],
  ['en>ko', 'Yes.', '네.', []],
]);

rows('length-ratio', [
  ['en>es', 'A house by the sea.', 'Una casa junto al mar.', []],
  ['en>es', 'A house by the sea and a garden behind it.', 'Una casa.', ['21']],
  ['en>es', 'Open', 'Abrir la ventana', []],
  ['en>zh', 'Open the console window and enter the command.', '打开控制台窗口并输入命令。', []],
  ['en>ko', 'Restart the server before you continue.', '계속하기 전에 서버를 다시 시작하십시오.', []],
  ['en>hi', 'The house is big.', 'घर बड़ा है।', []],
]);

rows('max-length', [
  ['en>es', 'House', 'Casas', [], { maxLength: 5 }],
  ['en>es', 'House', 'Casas!', ['6 5 [!]'], { maxLength: 5 }],
  ['en>es', 'House', '🙂🙂🙂🙂🙂', [], { maxLength: 5 }],
  ['en>es', '<1>House</1>', '<1>Una</1> casa', ['8 4 [casa]'], { maxLength: 4 }],
]);

const srt = { format: 'srt' } as const;
rows('line-length', [
  ['en>es', 'x', 'a'.repeat(84), [], srt],
  ['en>es', 'x', 'a'.repeat(85), ['43 42'], srt],
  ['en>es', 'x', 'a'.repeat(168), [], { ...srt, time: { from: 0, to: 60_000, cues: 2 } }],
  ['en>es', 'x', 'a'.repeat(85), []],
  ['en>es', 'x', `short\n${'a'.repeat(43)}`, [`43 42 [${'a'.repeat(43)}]`], srt],
  ['en>zh', 'x', '好'.repeat(33), ['17 16'], srt],
]);

rows('reading-speed', [
  ['en>es', 'x', 'a'.repeat(34), [], { ...srt, time: { from: 1000, to: 3000 } }],
  ['en>es', 'x', 'a'.repeat(35), ['18 17'], { ...srt, time: { from: 1000, to: 3000 } }],
  ['es>en', 'x', 'a'.repeat(40), [], { ...srt, time: { from: 1000, to: 3000 } }],
  ['es>en', 'x', 'a'.repeat(41), ['21 20'], { ...srt, time: { from: 1000, to: 3000 } }],
  ['en>es', 'x', 'a'.repeat(35), [], { ...srt, time: { from: 3000, to: 3000 } }],
  ['en>es', 'x', 'a'.repeat(35), [], srt],
]);

rows('bidi', [
  ['en>ar', 'x', '\u2067نعم\u2069', []],
  ['en>ar', 'x', '\u202bنعم\u202c', []],
  ['en>ar', 'x', '\u2067نعم', ['open [\u2067]']],
  ['en>ar', 'x', 'نعم\u202c', ['stray [\u202c]']],
  ['en>ar', 'x', '\u2067نعم\u202c\u2069', ['stray [\u202c]']],
  ['en>ar', 'x', 'نعم\u200f!', []],
]);

describe('a finding about something missing', () => {
  it.each([
    ['The <1>old</1> 17 houses.', 'Die Häuser.', '17'],
    ['Ask info@example.com, info@example.com.', 'Fragen Sie.', 'info@example.com'],
    ['Hello [[name]]!', 'Hallo!', '[[name]]'],
  ])(
    'has the range of the missing words in the source when %j is translated as %j',
    (source, target, words) => {
      const text = source.replace(/<\/?\d>/g, '');
      const ranges = found('en>de', source, target).flatMap((finding) => finding.source ?? []);
      expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual([words]);
    },
  );
});
