/**
 * Language detection. Seven languages (en es pt fr ca gl it) are distinguished by `ngrams.ts`, because no measured
 * library distinguishes them within a sentence. All other languages are detected by `eld` (extra small). The
 * measurements are in docs/decisions/0017-source-language.md.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Document } from '../model/document.ts';
import { countForeignLetters, countLetters } from '../model/scripts.ts';
import { isText } from '../segments/runs.ts';
import { segmentUnit } from '../segments/segmentation.ts';
import { likelihoods, ngramLanguages } from './ngrams.ts';

interface Detector {
  detect(text: string): { language: string; getScores(): Record<string, number> };
  setLanguageSubset(languages: string[] | false): Record<string, string>;
}

let loaded: Detector | undefined;

/**
 * Loads the `eld` detector on first use, because loading takes a quarter of a second and 50 MB. Its data is read
 * separately: the default entry of `eld` contains the data as one compiled object of a megabyte, which took 80 MB.
 */
function detector(): Detector {
  if (!loaded) {
    const path = fileURLToPath(new URL('../languageDetector.js', import.meta.resolve('eld/extrasmall')));
    const { createEld } = createRequire(import.meta.url)(path) as {
      createEld(): { instance: Detector; loadData(data: unknown): void };
    };
    const { instance, loadData } = createEld();
    loadData(readNgrams());
    loaded = instance;
  }
  return loaded;
}

const literalToken = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^{},:]+)(?=:)/g;

/**
 * Parses the data object in a module of `eld` as JSON. Its keys may be without quotes or in single or double quotes.
 */
export function readNgrams(): unknown {
  const url = new URL('../ngrams/extrasmall.js', import.meta.resolve('eld/extrasmall'));
  const source = readFileSync(url, 'utf8');
  const literal = source.slice(source.indexOf('= {') + 2, source.lastIndexOf('}') + 1);
  const json = literal.replace(literalToken, (_, single?: string, double?: string, bare?: string) =>
    JSON.stringify(bare ?? (single ?? double!).replace(/\\(.)/g, '$1')),
  );
  return JSON.parse(json);
}

/** Languages that `eld` knows by another name. It does not know Indonesian and returns Malay instead. */
const aliases: Record<string, string> = { nb: 'no', nn: 'no', id: 'ms', in: 'ms', iw: 'he', fil: 'tl' };

const detectorName = (language: string): string => {
  const base = language.toLowerCase().split(/[-_]/, 1)[0]!;
  return aliases[base] ?? base;
};

/**
 * The minimum difference between the two best scores of `eld`, as a share of the best score. If the
 * difference is smaller, the result is not clear.
 */
const MARGIN = 0.02;
/**
 * The minimum difference between the two best log-likelihoods of the n-grams. If the difference is smaller,
 * the result is not clear: two fifths of such results are wrong, but only 1.5 % of all others.
 */
const CLEAR = 3;

export type Detected = { language: string } | { languageUndetermined: string };

/**
 * The detector's name of a language, and how far its score is behind the best score. The distance is in units of the
 * smallest clear difference, so a language with less than 1 cannot be ruled out.
 */
type Ranked = readonly [name: string, behind: number];

/**
 * Returns the language of a document, which is always an offered language. A declaration in XLIFF has priority.
 * Otherwise up to eight samples of the translatable text are examined. Even a very short text gets the most likely
 * language.
 *
 * @param recent languages that the author uses, most likely first; they decide between close results
 * @returns `languageUndetermined` with a message for the caller if the text has no letters, no language is offered,
 * or the declared language is not offered
 */
export function detectLanguage(
  document: Document,
  offered: readonly string[],
  recent: readonly string[] = [],
): Detected {
  if (document.declaresLanguage && document.sourceLanguage !== undefined) {
    return declared(document.sourceLanguage, offered);
  }
  if (offered.length === 0) {
    return { languageUndetermined: 'No language is offered; please name source_language.' };
  }
  const samples = samplesOf(document);
  const joined = samples.join(' ');
  if (!/\p{L}/u.test(joined)) {
    const languageUndetermined =
      'The text has no letters to detect its language from; please name source_language.';
    return { languageUndetermined };
  }
  const ranked = rank(samples, joined, offered);
  const close = ranked.filter(([, behind]) => behind < 1).map(([name]) => name);
  const used = recent.find(
    (language) => offered.includes(language) && close.includes(detectorName(language)),
  );
  const found = used === undefined ? ranked[0]![0] : detectorName(used);
  return { language: offeredName(found, offered, joined, used) };
}

/** Ranks the languages, most likely first. The result has at least one language. */
function rank(samples: readonly string[], joined: string, offered: readonly string[]): Ranked[] {
  const names = inItsScript(joined, [...new Set(offered.map(detectorName))]);
  const latin = joined.match(/\p{sc=Latn}/gu)?.length ?? 0;
  const mostlyLatin = latin * 3 > countLetters(joined) * 2;
  const ngramNames = mostlyLatin ? ngramLanguages().filter((name) => names.includes(name)) : [];
  if (ngramNames.length === 0) {
    const found = rankByDetector(samples, names);
    return found.length > 0 ? found : names.map((name) => [name, 0]);
  }
  const likely = likelihoods(joined);
  const best = Math.max(...ngramNames.map((name) => likely.get(name)!));
  if (ngramNames.length < names.length && likely.get('other')! > best) {
    // A language outside the seven of `ngrams.ts` is returned only if both detectors agree that the text is in none
    // of the seven.
    const all = rankByDetector(samples, names);
    if (all.length > 0 && !ngramNames.includes(all[0]![0])) return all;
  }
  return ngramNames
    .map((name): Ranked => [name, (best - likely.get(name)!) / CLEAR])
    .sort((one, other) => one[1] - other[1]);
}

/**
 * Returns the languages whose script fits the text. For each language, the letters of the text in its script
 * are counted; the count must be at least half of the highest count.
 */
function inItsScript(text: string, names: readonly string[]): string[] {
  const letters = countLetters(text);
  const own = names.map((name) => letters - (countForeignLetters(text, name, { own: true }) ?? 0));
  const most = Math.max(...own);
  return names.filter((_, index) => own[index]! * 2 >= most);
}

/**
 * Ranks languages with `eld`. The result is empty if `eld` supports none of them or recognizes nothing in the text.
 */
function rankByDetector(samples: readonly string[], names: readonly string[]): Ranked[] {
  if (names.length === 1) return [];
  const eld = detector();
  try {
    if (Object.keys(eld.setLanguageSubset([...names])).length === 0) return [];
    const totals = new Map<string, number>();
    for (const sample of samples) {
      for (const [language, score] of Object.entries(eld.detect(sample).getScores())) {
        // A long sample has more weight than a short one.
        totals.set(language, (totals.get(language) ?? 0) + score * Math.min(sample.length, 300));
      }
    }
    const best = Math.max(...totals.values());
    return [...totals]
      .filter(([, score]) => score > 0)
      .map(([name, score]): Ranked => [name, (best - score) / best / MARGIN])
      .sort((one, other) => one[1] - other[1]);
  } finally {
    eld.setLanguageSubset(false);
  }
}

function declared(language: string, offered: readonly string[]): Detected {
  const wanted = language.toLowerCase().replaceAll('_', '-');
  const exact = offered.find((name) => name.toLowerCase() === wanted);
  const base = offered.find((name) => name.toLowerCase() === wanted.split('-', 1)[0]);
  const related = offered.find((name) => detectorName(name) === detectorName(wanted));
  const found = exact ?? base ?? related;
  return found
    ? { language: found }
    : { languageUndetermined: `The document declares the language ${language}, which is not offered.` };
}

const onlySimplified = /[们这来说国时会对发经学过还现动东车长门问间马鸟鱼让认识语请谁课谢边进远连运达选]/g;
const onlyTraditional = /[們這來說國時會對發經學過還現動東車長門問間馬鳥魚讓認識語請誰課謝邊進遠連運達選]/g;

/**
 * Returns the offered language for the detector's result. For Chinese, the characters decide between simplified and
 * traditional.
 */
function offeredName(found: string, offered: readonly string[], text: string, used?: string): string {
  const candidates = offered.filter((name) => detectorName(name) === found);
  if (found === 'zh' && candidates.length > 1) {
    const simple = text.match(onlySimplified)?.length ?? 0;
    const traditional = text.match(onlyTraditional)?.length ?? 0;
    const wanted = traditional > simple ? /hant|-tw|-hk|-mo/i : /hans|-cn|-sg|^zh$/i;
    const match = candidates.find((name) => wanted.test(name));
    if (match) return match;
  }
  return used ?? candidates.find((name) => !name.includes('-')) ?? candidates[0] ?? found;
}

/** Returns up to eight samples of translatable text, about 300 characters each, spread over the document. */
function samplesOf(document: Document): string[] {
  const units = document.units.filter((unit) => unit.translatable);
  const step = Math.max(1, Math.floor(units.length / 8));
  const samples: string[] = [];
  for (let from = 0; from < units.length && samples.length < 8; from += step) {
    let sample = '';
    for (let i = from; i < Math.min(from + step, units.length) && sample.length < 300; i += 1) {
      const unit = units[i]!;
      // Only the first 2,000 characters of a unit are examined, which limits the time.
      const end = Math.min(unit.end, unit.start + 2_000);
      const part = { ...unit, end, codes: unit.codes.filter((code) => code.end <= end) };
      for (const { runs } of segmentUnit(document, part, 'und').cuts) {
        sample += `${runs.map((run) => (isText(run) ? run.text : ' ')).join('')} `;
      }
    }
    if (sample.trim() !== '') samples.push(sample.slice(0, 400));
  }
  return samples;
}
