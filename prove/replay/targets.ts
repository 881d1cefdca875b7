/** Puts the codes of a source into recorded edits, which are plain texts. */
import { isCorrect, type Piece } from '../../packages/documents/src/documents.ts';

/**
 * Returns a recorded edit as pieces, with the codes of the source in the places where their text occurs in the edit.
 * Returns undefined if the text of a code does not occur.
 *
 * @param codes the markup of the codes by kind and number
 */
export function targetOf(
  source: readonly Piece[],
  codes: Readonly<Record<string, string>>,
  edit: string,
): Piece[] | undefined {
  let target: Piece[] = [{ text: edit }];
  for (const piece of source) {
    const text = textOfCode(piece, codes);
    if (text === undefined) continue;
    const at = target.findIndex((one) => !('keep' in one) && 'text' in one && one.text.includes(text));
    if (at < 0 || text === '') return undefined;
    const { text: whole } = target[at] as { text: string };
    const start = whole.indexOf(text);
    const parts = [{ text: whole.slice(0, start) }, piece, { text: whole.slice(start + text.length) }];
    target = target.toSpliced(at, 1, ...parts.filter((one) => !('text' in one) || one.text !== ''));
  }
  return isCorrect(source, target) ? target : undefined;
}

/** Returns the text of a code in its document; undefined for ordinary text. */
function textOfCode(piece: Piece, codes: Readonly<Record<string, string>>): string | undefined {
  if ('keep' in piece) return piece.text;
  const [[kind, number]] = Object.entries(piece) as [[string, number | string]];
  if (kind === 'text') return undefined;
  const markup = codes[`${kind}${number}`] ?? '';
  return markup.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
