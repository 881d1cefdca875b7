/**
 * Converts targets to plain text with tokens for codes and back, for screen readers, touch keyboards and
 * dictation.
 */
import { type Code, codesOf, keyOf, labelOf, normalize, type Piece, pieceOf, shownCode } from './pieces.ts';

/**
 * Returns the text with each code as its label in braces. Braces of the text are doubled.
 *
 * @param source the source of the segment, which decides the numbers in the tokens
 */
export function withTokens(pieces: readonly Piece[], source: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      const [code] = codesOf([piece]);
      return code ? tokenOf(shownCode(code, source)) : doubledBraces((piece as { text: string }).text);
    })
    .join('');
}

/**
 * The token of a protected word has the number of the word and not its text, because the text may contain
 * braces.
 */
export function tokenOf(code: Code): string {
  return code.kind === 'keep' ? `{=${code.number}}` : `{${labelOf(code)}}`;
}

export interface ParsedTokens {
  pieces: Piece[];
  /** Codes of the source that the text lacks. */
  missing: Code[];
  /** Codes that the text repeats. */
  doubled: Code[];
  /** Tokens that stand for no code of the source. */
  unknown: string[];
}

/** Parses a text with tokens. Tokens that stand for no code of the source stay as text. */
export function readTokens(text: string, source: readonly Piece[]): ParsedTokens {
  const known = new Map(codesOf(source).map((code) => [tokenOf(shownCode(code, source)), code]));
  const seen = new Map<string, Code>();
  const doubled: Code[] = [];
  const unknown: string[] = [];
  const pieces: Piece[] = [];
  let rest = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{(?:=?\d+|[/|]\d+|\d+\/)\}/g)) {
    pieces.push({ text: text.slice(rest, match.index) });
    rest = match.index + match[0].length;
    if (match[0] === '{{' || match[0] === '}}') {
      pieces.push({ text: match[0][0]! });
      continue;
    }
    const code = known.get(match[0]);
    if (!code) {
      unknown.push(match[0]);
      pieces.push({ text: match[0] });
    } else if (seen.has(keyOf(code))) doubled.push(code);
    else {
      seen.set(keyOf(code), code);
      pieces.push(pieceOf(code));
    }
  }
  pieces.push({ text: text.slice(rest) });
  const missing = [...known.values()].filter((code) => !seen.has(keyOf(code)));
  return { pieces: normalize(pieces), missing, doubled, unknown };
}

const doubledBraces = (text: string) => text.replace(/[{}]/g, '$&$&');
