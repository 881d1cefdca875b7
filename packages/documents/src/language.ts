/**
 * Which language a text is in, with `eld` (extra small): of the sets measured, 99.6 % right on sentences, 95.8 % at
 * 40 characters, 86.2 % at 20, when limited to the languages that matter. Its own measure of certainty is no guard
 * (at 20 characters it vouches for 92 % and is right in 89 %), so length and margin decide.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cutUnit } from './cut.ts';
import type { Document } from './document.ts';
import { isText } from './runs.ts';

interface Detector {
  detect(text: string): { language: string; getScores(): Record<string, number> };
  setLanguageSubset(languages: string[] | false): Record<string, string>;
}

let loaded: Detector | undefined;

/**
 * Loading takes a quarter of a second and 50 MB, so it waits for the first text without a declared language. The entry
 * of `eld` has what it knows compiled, a megabyte of one object: that took 80 MB.
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

/** The object of `eld`'s module, read as JSON: its names are without quotes or in either kind. */
export function readNgrams(): unknown {
  const url = new URL('../ngrams/extrasmall.js', import.meta.resolve('eld/extrasmall'));
  const source = readFileSync(url, 'utf8');
  const literal = source.slice(source.indexOf('= {') + 2, source.lastIndexOf('}') + 1);
  const json = literal.replace(literalToken, (_, single?: string, double?: string, bare?: string) =>
    JSON.stringify(bare ?? (single ?? double!).replace(/\\(.)/g, '$1')),
  );
  return JSON.parse(json);
}

/** Shortnames that the detector knows by another name. It has no Indonesian and answers Malay. */
const aliases: Record<string, string> = { nb: 'no', nn: 'no', id: 'ms', in: 'ms', iw: 'he', fil: 'tl' };

const detectorName = (language: string): string => {
  const base = language.toLowerCase().split(/[-_]/, 1)[0]!;
  return aliases[base] ?? base;
};

/** Fewest letters that are worth a guess; fewer for scripts in which a letter says more. */
const fewestLetters = 20;
const fewestDense = 6;
const dense =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Grek}\p{sc=Hebr}\p{sc=Armn}\p{sc=Geor}]/gu;
/** The best score has to be ahead of the second by this part of itself. */
const margin = 0.02;

export type Detected = { language: string } | { undecided: string };

/**
 * The language of a document, as one of the offered shortnames. What an XLIFF declares beats the detector. Otherwise
 * the translatable text of the whole document is looked at, in up to eight samples.
 *
 * @returns `undecided` with a sentence for the caller when the text is too short or too close between two languages.
 */
export function detectLanguage(document: Document, offered: readonly string[]): Detected {
  if (document.declaresLanguage && document.sourceLanguage !== undefined) {
    return declared(document.sourceLanguage, offered);
  }
  const samples = samplesOf(document);
  const joined = samples.join(' ');
  const letters = joined.match(/\p{L}/gu)?.length ?? 0;
  const enough = letters >= fewestLetters || (joined.match(dense)?.length ?? 0) >= fewestDense;
  if (!enough) {
    return { undecided: 'The text is too short to tell its language; please name source_language.' };
  }
  const names = [...new Set(offered.map(detectorName))];
  const eld = detector();
  const accepted = Object.values(eld.setLanguageSubset(names));
  if (accepted.length === 0) {
    eld.setLanguageSubset(false);
    return { undecided: 'The language of the text cannot be told; please name source_language.' };
  }
  const totals = new Map<string, number>();
  for (const sample of samples) {
    const scores = eld.detect(sample).getScores();
    for (const [language, score] of Object.entries(scores)) {
      // Long samples count more than short ones.
      totals.set(language, (totals.get(language) ?? 0) + score * Math.min(sample.length, 300));
    }
  }
  eld.setLanguageSubset(false);
  const [first, second] = [...totals].sort((a, b) => b[1] - a[1]);
  if (!first || (second && (first[1] - second[1]) / first[1] < margin)) {
    return { undecided: 'The language of the text cannot be told for sure; please name source_language.' };
  }
  return { language: offeredName(first[0], offered, joined) };
}

function declared(language: string, offered: readonly string[]): Detected {
  const wanted = language.toLowerCase().replaceAll('_', '-');
  const exact = offered.find((name) => name.toLowerCase() === wanted);
  const base = offered.find((name) => name.toLowerCase() === wanted.split('-', 1)[0]);
  const related = offered.find((name) => detectorName(name) === detectorName(wanted));
  const found = exact ?? base ?? related;
  return found
    ? { language: found }
    : { undecided: `The document says its language is ${language}, which is not offered.` };
}

const onlySimplified = /[们这来说国时会对发经学过还现动东车长门问间马鸟鱼让认识语请谁课谢边进远连运达选]/g;
const onlyTraditional = /[們這來說國時會對發經學過還現動東車長門問間馬鳥魚讓認識語請誰課謝邊進遠連運達選]/g;

/** The offered shortname for what the detector found. For Chinese the script decides, not the detector. */
function offeredName(found: string, offered: readonly string[], text: string): string {
  const candidates = offered.filter((name) => detectorName(name) === found);
  if (found === 'zh' && candidates.length > 1) {
    const simple = text.match(onlySimplified)?.length ?? 0;
    const traditional = text.match(onlyTraditional)?.length ?? 0;
    const wanted = traditional > simple ? /hant|-tw|-hk|-mo/i : /hans|-cn|-sg|^zh$/i;
    const match = candidates.find((name) => wanted.test(name));
    if (match) return match;
  }
  return candidates.find((name) => !name.includes('-')) ?? candidates[0] ?? found;
}

/** Up to eight stretches of translatable text of some 300 characters, spread over the document. */
function samplesOf(document: Document): string[] {
  const units = document.units.filter((unit) => unit.translatable);
  const step = Math.max(1, Math.floor(units.length / 8));
  const samples: string[] = [];
  for (let from = 0; from < units.length && samples.length < 8; from += step) {
    let sample = '';
    for (let i = from; i < Math.min(from + step, units.length) && sample.length < 300; i += 1) {
      const unit = units[i]!;
      // Markup of a unit beyond its first 2,000 characters is not looked at.
      const end = Math.min(unit.end, unit.start + 2_000);
      const part = { ...unit, end, codes: unit.codes.filter((code) => code.end <= end) };
      for (const { runs } of cutUnit(document, part, 'und').cuts) {
        sample += `${runs.map((run) => (isText(run) ? run.text : ' ')).join('')} `;
      }
    }
    if (sample.trim() !== '') samples.push(sample.slice(0, 400));
  }
  return samples;
}
