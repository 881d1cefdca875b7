/** A translation as plain text, where a screen reader, a touch keyboard or dictation has trouble with chips. */
import { type Code, codesOf, keyOf, labelOf, type Piece, pieceOf, tidy } from './pieces.ts';

/** The text with each code as `{…}` of its label; a brace of the text itself is doubled. */
export function withTokens(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      const [code] = codesOf([piece]);
      return code ? tokenOf(code) : doubledBraces((piece as { text: string }).text);
    })
    .join('');
}

/** A kept word is shown by its number, like every code: its own text may have braces. */
export function tokenOf(code: Code): string {
  return code.kind === 'keep' ? `{=${code.number}}` : `{${labelOf(code)}}`;
}

export interface Read {
  pieces: Piece[];
  /** Codes of the source that do not stand in the text. */
  missing: Code[];
  /** Codes that stand in it more than once. */
  doubled: Code[];
  /** What looks like a token and is none. */
  unknown: string[];
}

/** What a text with tokens says, and what is wrong with it. Braces that are no token of the source stay text. */
export function readTokens(text: string, source: readonly Piece[]): Read {
  const known = new Map(codesOf(source).map((code) => [tokenOf(code), code]));
  const seen = new Map<string, Code>();
  const doubled: Code[] = [];
  const unknown: string[] = [];
  const pieces: Piece[] = [];
  let rest = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{(?:=?\d+|\/\d+|\d+\/)\}/g)) {
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
  return { pieces: tidy(pieces), missing, doubled, unknown };
}

const doubledBraces = (text: string) => text.replace(/[{}]/g, '$&$&');
