/** Hostile documents of every format, and what must hold between one of them and its translation. */
import { checkHtmlLoosely, checkSrt, checkXliff } from '../../packages/documents/test/checks.ts';
import { ATOMS, fill, PLACES } from '../../packages/documents/test/growth.ts';
import type { Random } from '../random.ts';

export interface Drawn {
  text: string;
  text_format: string;
}

const LENGTHS = [1, 3, 30, 300, 3_000];
const atoms = [...ATOMS.values()];

/** One or two of the atoms in one of the places that a document of these formats has. */
export function drawDocument(random: Random, formats: readonly string[]): Drawn {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)]!;
  const { format, around } = pick(PLACES.filter((place) => formats.includes(place.format)));
  const filler = () => fill(pick(atoms), pick(LENGTHS));
  return { text: around(random.below(2) === 0 ? filler() : filler() + filler()), text_format: format };
}

const TIME_LINE = /^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$/;

/** What a translation has lost, moved or broken of the document around the words; undefined for nothing. */
export function unfaithful({ text, text_format }: Drawn, translated: string): string | undefined {
  // The content of these changes by design, and templates hold what the checks take for tags.
  if (/notranslate|<%|<\?/i.test(text)) return undefined;
  // An arrow in a line of a cue is written as "→", so that it does not begin another cue.
  const arrows = text.split(/[\r\n]+/).filter((line) => line.includes('-->'));
  if (text_format === 'srt' && !arrows.every((line) => TIME_LINE.test(line))) return undefined;
  const check = { html: checkHtmlLoosely, srt: checkSrt, xliff: checkXliff }[text_format];
  const [problem] = check?.(text, translated) ?? [];
  return problem;
}
