import { describe, expect, test } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { DocumentError, rebuild, scan, segments } from '../src/documents.ts';
import { checkHtml, checkHtmlLoosely, checkSrt, checkVtt, checkXliff, transUnits } from './checks.ts';
import { hasCorpora, html5libInputs, mustHaveCorpora, type Sample, samples, variants } from './corpus.ts';
import { faulty, silent, translate, upperCasing } from './engines.ts';

/** Returns true for sample files that must be rejected, as their manifest says. */
const isRefused = ({ facts }: Sample) => facts.well_formed === 'NO';

const files = (['html', 'srt', 'vtt', 'xliff'] as const).flatMap(samples);
const readable = files.filter((file) => !isRefused(file));
/** Each file unchanged and in one other variant, in turn, and with `FULL=1` in every variant. */
const cases = readable.flatMap((file, index) => {
  const [original, ...others] = variants(file);
  const tried = FULL ? others : [others[index % others.length]!];
  return [original!, ...tried].map(([variant, text]) => ({
    ...file,
    text,
    title: `${file.format} ${file.name}, ${variant}`,
  }));
});
const unchanged = cases.filter(({ title }) => title.endsWith('unchanged'));

test('sample files for tests: the folder exists on CI and has more than 100 files', () => {
  if (!hasCorpora && mustHaveCorpora)
    throw new Error('The folder shared/corpora is missing beside the repository.');
  expect(hasCorpora || !mustHaveCorpora).toBe(true);
  if (hasCorpora) expect(files.length).toBeGreaterThan(100);
});

describe.skipIf(!hasCorpora)('sample files translated by an engine that changes nothing', () => {
  test.each(cases)('stay unchanged: $title', ({ text, format }) => {
    const document = scan(text, format);
    const result = rebuild(document, translate(document, 'en', silent), 'de');
    if (format === 'xliff') {
      expect(checkXliff(text, result)).toEqual([]);
    } else expect(result).toBe(text);
  });
});

describe.skipIf(!hasCorpora)('sample files rebuilt without any translation', () => {
  test.each(unchanged)('stay unchanged: $title', ({ text, format }) => {
    const result = rebuild(scan(text, format), new Map(), 'de');
    if (format === 'xliff') expect(checkXliff(text, result)).toEqual([]);
    else expect(result).toBe(text);
  });
});

const check = { html: checkHtml, srt: checkSrt, vtt: checkVtt, xliff: checkXliff };
const checkLoosely = { ...check, html: checkHtmlLoosely };

describe.skipIf(!hasCorpora)('sample files translated to upper case', () => {
  test.each(cases)('keep their markup: $title', ({ text, format }) => {
    const document = scan(text, format);
    const translations = translate(document, 'en', upperCasing);
    const result = rebuild(document, translations, 'de');
    expect(check[format as 'html'](text, result)).toEqual([]);
    // Rebuilding the result with the same translations must not change it again.
    if (format !== 'xliff') return;
    const again = scan(result, format);
    segments(again, 'en');
    expect(rebuild(again, translations, 'de')).toBe(result);
  });

  test.each(readable)('contain no untranslated letter: $format $name', ({ text, format }) => {
    const document = scan(text, format);
    const found = segments(document, 'en');
    const result = rebuild(document, translate(document, 'en', upperCasing), 'de');
    // The segments of the result must be in upper case.
    if (format === 'xliff') {
      const written = transUnits(result).length;
      expect(written).toBe(document.transUnits);
      return;
    }
    const words = segments(scan(result, format), 'en').flatMap(({ pieces }) => pieces);
    const quiet = words.filter(
      (piece) => 'text' in piece && !('keep' in piece) && piece.text !== piece.text.toUpperCase(),
    );
    expect(quiet).toEqual([]);
    expect(found.length === 0).toBe(words.length === 0);
  });
});

describe.skipIf(!hasCorpora)('sample files translated by an engine that breaks codes', () => {
  test.each([...unchanged, ...cases.filter(({ title }) => title.endsWith(', CR'))])(
    'remain valid with all their markup: $title',
    ({ text, format }) => {
      const document = scan(text, format);
      const result = rebuild(document, translate(document, 'en', faulty(text.length)), 'de');
      expect(checkLoosely[format as 'html'](text, result)).toEqual([]);
      expect(() => scan(result, format)).not.toThrow();
    },
  );
});

describe.skipIf(!hasCorpora)('sample files compared with the counts of other tools', () => {
  test.each(files.filter(({ format }) => format === 'srt'))(
    'have the expected number of cues: $name',
    ({ text, facts }) => {
      expect(scan(text, 'srt').units.length).toBe(Number(facts.timing_lines));
    },
  );

  const counted = files.filter(({ format, facts }) => format === 'xliff' && facts.well_formed !== 'NO');
  test.each(counted)(
    'have the expected trans-units, sources, targets and translate="no": $name',
    ({ text, facts }) => {
      const document = scan(text, 'xliff');
      const units = document.units.filter(({ target }) => target);
      expect(document.transUnits).toBe(Number(facts.trans_units));
      expect(units.length).toBe(Number(facts.with_source));
      const withTarget = transUnits(text).filter(({ children }) =>
        children.some(({ name }) => name === 'target'),
      );
      expect(withTarget.length).toBe(Number(facts.with_direct_target));
      if (facts.effective_translate_no === '') return;
      // Approvals and states are removed, so that only the attribute `translate` prevents translation.
      const open = text.replaceAll(/ approved=(["'])yes\1| state="[^"]*"/g, '');
      const refused = scan(open, 'xliff').units.filter((unit) => unit.target && !unit.translatable);
      expect(refused.length).toBe(Number(facts.effective_translate_no));
    },
  );

  test.each(files.filter(isRefused))(
    'are rejected with line and column if they are not well-formed: $name',
    ({ text }) => {
      let error: unknown;
      try {
        scan(text, 'xliff');
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(DocumentError);
      expect((error as DocumentError).line).toBeGreaterThan(0);
      expect((error as DocumentError).message).toMatch(/not well-formed/);
    },
  );
});

describe.skipIf(!hasCorpora)('inputs of the html5lib tokenizer tests', () => {
  const inputs = [...new Set(html5libInputs())].filter(
    (input) => input.isWellFormed() && !input.includes('\0'),
  );

  test('are more than a thousand different texts', () => {
    expect(inputs.length).toBeGreaterThan(1_500);
  });

  test('stay unchanged when the engine changes nothing', () => {
    for (const input of inputs) {
      const document = scan(input, 'html');
      expect(rebuild(document, translate(document, 'en', silent), 'de')).toBe(input);
      expect(rebuild(scan(input, 'html'), new Map(), 'de')).toBe(input);
    }
  });

  test('keep their markup when the engine translates to upper case', () => {
    const wrong = inputs.filter((input) => {
      const document = scan(input, 'html');
      return checkHtml(input, rebuild(document, translate(document, 'en', upperCasing), 'de')).length > 0;
    });
    expect(wrong).toEqual([]);
  });
});
