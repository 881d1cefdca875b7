/** Generates hostile documents of every format and checks their translations. */
import { checkHtmlLoosely, checkSrt, checkVtt, checkXliff } from '../../packages/documents/test/checks.ts';
import { ATOMS, fill, PLACES } from '../../packages/documents/test/growth.ts';
import type { Random } from '../harness/random.ts';

export interface Drawn {
  text: string;
  text_format: string;
}

const LENGTHS = [1, 3, 30, 300, 3_000];
const atoms = [...ATOMS.values()];

/** Draws a document in a random format, with one or two hostile texts at a random place. */
export function drawDocument(random: Random, formats: readonly string[]): Drawn {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)]!;
  const { format, around } = pick(PLACES.filter((place) => formats.includes(place.format)));
  const filler = () => fill(pick(atoms), pick(LENGTHS));
  return { text: around(random.below(2) === 0 ? filler() : filler() + filler()), text_format: format };
}

const TIME_LINE = /^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$/;

/** Matches character references to noncharacters of Unicode. A translation must not change them. */
const NONCHARACTERS = /&(?:amp;)?#(?:xFFFF|xFFFE|xFDD0|65534);/g;

/**
 * Returns the damage that a translation has done to the parts of the document that are not translated. Returns
 * undefined if these parts are intact.
 */
export function unfaithful({ text, text_format }: Drawn, translated: string): string | undefined {
  if (/\p{Noncharacter_Code_Point}/u.test(translated)) return 'it has a noncharacter';
  // Documents with `notranslate` or templates are not checked further. The attribute `origval` changes the content by
  // design, and the checks would mistake parts of templates for tags.
  if (/notranslate|<%|<\?/i.test(text)) return undefined;
  // In the text of a cue, the server replaces `-->` by `→`, because `-->` could start another cue. Subtitles with such a
  // text are not checked further.
  const arrows = text.split(/[\r\n]+/).filter((line) => line.includes('-->'));
  if (text_format === 'srt' && !arrows.every((line) => TIME_LINE.test(line))) return undefined;
  const count = (of: string) => of.match(NONCHARACTERS)?.length ?? 0;
  if (text_format !== 'xliff' && count(translated) !== count(text))
    return 'a reference of a noncharacter is lost';
  const check = { html: checkHtmlLoosely, srt: checkSrt, vtt: checkVtt, xliff: checkXliff }[text_format];
  const [problem] = check?.(text, translated) ?? [];
  return problem;
}
