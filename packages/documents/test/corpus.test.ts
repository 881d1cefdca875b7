import { describe, expect, test } from 'vitest';
import { DocumentError, rebuild, scan, segments } from '../src/documents.ts';
import { checkHtml, checkHtmlLoosely, checkSrt, checkXliff, transUnits } from './checks.ts';
import { hasCorpora, html5libInputs, mustHaveCorpora, type Sample, samples, variants } from './corpus.ts';
import { faulty, silent, translate, upperCasing } from './engines.ts';

/** The files that must be rejected, by the manifest. */
const isRefused = ({ facts }: Sample) => facts.well_formed === 'NO';

const files = (['html', 'srt', 'xliff'] as const).flatMap(samples);
const readable = files.filter((file) => !isRefused(file));
const cases = readable.flatMap((file) =>
  variants(file).map(([variant, text]) => ({
    ...file,
    text,
    title: `${file.format} ${file.name}, ${variant}`,
  })),
);
const unchanged = cases.filter(({ title }) => title.endsWith('unchanged'));

test('the corpora are installed', () => {
  if (!hasCorpora && mustHaveCorpora)
    throw new Error('The folder shared/corpora is missing beside the repository.');
  expect(hasCorpora || !mustHaveCorpora).toBe(true);
  if (hasCorpora) expect(files.length).toBeGreaterThan(100);
});

describe.skipIf(!hasCorpora)('an engine that changes nothing', () => {
  test.each(cases)('$title', ({ text, format }) => {
    const document = scan(text, format);
    const result = rebuild(document, translate(document, 'en', silent), 'de');
    if (format === 'xliff') {
      expect(checkXliff(text, result)).toEqual([]);
    } else expect(result).toBe(text);
  });
});

describe.skipIf(!hasCorpora)('no translation at all', () => {
  test.each(unchanged)('$title', ({ text, format }) => {
    const result = rebuild(scan(text, format), new Map(), 'de');
    if (format === 'xliff') expect(checkXliff(text, result)).toEqual([]);
    else expect(result).toBe(text);
  });
});

const check = { html: checkHtml, srt: checkSrt, xliff: checkXliff };
const checkLoosely = { ...check, html: checkHtmlLoosely };

describe.skipIf(!hasCorpora)('an upper-casing engine', () => {
  test.each(cases)('$title', ({ text, format }) => {
    const document = scan(text, format);
    const translations = translate(document, 'en', upperCasing);
    const result = rebuild(document, translations, 'de');
    expect(check[format as 'html'](text, result)).toEqual([]);
    // Rebuilding the result with the same translations must not change it.
    if (format !== 'xliff') return;
    const again = scan(result, format);
    segments(again, 'en');
    expect(rebuild(again, translations, 'de')).toBe(result);
  });

  test.each(readable)('$format $name: contains every translated letter', ({ text, format }) => {
    const document = scan(text, format);
    const found = segments(document, 'en');
    const result = rebuild(document, translate(document, 'en', upperCasing), 'de');
    // The segments of the result must be the upper-case segments of the source.
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

describe.skipIf(!hasCorpora)('a faulty engine', () => {
  test.each([...unchanged, ...cases.filter(({ title }) => title.endsWith(', CR'))])(
    '$title',
    ({ text, format }) => {
      const document = scan(text, format);
      const result = rebuild(document, translate(document, 'en', faulty(text.length)), 'de');
      expect(checkLoosely[format as 'html'](text, result)).toEqual([]);
      expect(() => scan(result, format)).not.toThrow();
    },
  );
});

describe.skipIf(!hasCorpora)('counts made by other tools', () => {
  test.each(files.filter(({ format }) => format === 'srt'))(
    '$name: has the expected number of cues',
    ({ text, facts }) => {
      expect(scan(text, 'srt').units.length).toBe(Number(facts.timing_lines));
    },
  );

  const counted = files.filter(({ format, facts }) => format === 'xliff' && facts.well_formed !== 'NO');
  test.each(counted)(
    '$name: has the expected trans-units, sources, targets and translate="no"',
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
      // Approvals and states are removed, so that only the attribute prevents translation.
      const open = text.replaceAll(/ approved=(["'])yes\1| state="[^"]*"/g, '');
      const refused = scan(open, 'xliff').units.filter((unit) => unit.target && !unit.translatable);
      expect(refused.length).toBe(Number(facts.effective_translate_no));
    },
  );

  test.each(files.filter(isRefused))('$name is rejected with line and column', ({ text }) => {
    let error: unknown;
    try {
      scan(text, 'xliff');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DocumentError);
    expect((error as DocumentError).line).toBeGreaterThan(0);
    expect((error as DocumentError).message).toMatch(/not well-formed/);
  });
});

describe.skipIf(!hasCorpora)('the inputs of the html5lib tokenizer tests', () => {
  const inputs = [...new Set(html5libInputs())].filter(
    (input) => input.isWellFormed() && !input.includes('\0'),
  );

  test('number thousands', () => {
    expect(inputs.length).toBeGreaterThan(1_500);
  });

  test('are unchanged if the engine changes nothing', () => {
    for (const input of inputs) {
      const document = scan(input, 'html');
      expect(rebuild(document, translate(document, 'en', silent), 'de')).toBe(input);
      expect(rebuild(scan(input, 'html'), new Map(), 'de')).toBe(input);
    }
  });

  test('keep their markup with an upper-casing engine', () => {
    const wrong = inputs.filter((input) => {
      const document = scan(input, 'html');
      return checkHtml(input, rebuild(document, translate(document, 'en', upperCasing), 'de')).length > 0;
    });
    expect(wrong).toEqual([]);
  });
});
