/** Pieces of a segment, as the workbench looks at them. Pure. */
import type { Piece } from '@dragoman/documents/pieces';

export type { Piece };

export type CodeKind = 'open' | 'close' | 'single' | 'keep';

/** A code by itself: what a chip shows and the guard counts. `text` is what a reader sees of a kept word. */
export interface Code {
  kind: CodeKind;
  number: number;
  text: string;
}

/** The code that a piece is; nothing for text. */
export function codeOf(piece: Piece): Code | undefined {
  if ('keep' in piece) return { kind: 'keep', number: piece.keep, text: piece.text };
  if ('open' in piece) return { kind: 'open', number: piece.open, text: '' };
  if ('close' in piece) return { kind: 'close', number: piece.close, text: '' };
  if ('single' in piece) return { kind: 'single', number: piece.single, text: '' };
  return undefined;
}

export function pieceOf(code: Code): Piece {
  switch (code.kind) {
    case 'open':
      return { open: code.number };
    case 'close':
      return { close: code.number };
    case 'single':
      return { single: code.number };
    case 'keep':
      return { keep: code.number, text: code.text };
  }
}

/** What tells one code of a segment from another. A kept word is its text too: another segment's may have its number. */
export function keyOf(code: Code): string {
  return `${code.kind} ${code.number} ${code.text}`;
}

/** What stands on a chip. */
export function labelOf(code: Code): string {
  switch (code.kind) {
    case 'open':
      return `${code.number}`;
    case 'close':
      return `/${code.number}`;
    case 'single':
      return `${code.number}/`;
    case 'keep':
      return code.text === '' ? `${code.number}` : code.text;
  }
}

export function codesOf(pieces: readonly Piece[]): Code[] {
  return pieces.flatMap((piece) => codeOf(piece) ?? []);
}

/** Without empty stretches, neighbouring ones joined: the one way in which a text is written. */
export function tidy(pieces: readonly Piece[]): Piece[] {
  const tidied: Piece[] = [];
  for (const piece of pieces) {
    const last = tidied.at(-1);
    if (codeOf(piece)) tidied.push(piece);
    else if ('text' in piece && piece.text !== '') {
      if (last && 'text' in last && !codeOf(last))
        tidied[tidied.length - 1] = { text: last.text + piece.text };
      else tidied.push({ text: piece.text });
    }
  }
  return tidied;
}

export function samePieces(one: readonly Piece[] | null, other: readonly Piece[] | null): boolean {
  if (one === other) return true;
  return one !== null && other !== null && JSON.stringify(tidy(one)) === JSON.stringify(tidy(other));
}

/** The text as a reader reads it: kept words stand, other codes are nothing. */
export function plainText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/** Whether there is anything to read: codes alone are no translation. */
export function isEmpty(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => !('text' in piece) || ('keep' in piece ? false : piece.text.trim() === ''));
}

/** The numbers of the pairs that cross, or close before they open. */
export function crossed(codes: readonly Code[]): Set<number> {
  const open: number[] = [];
  const wrong = new Set<number>();
  for (const code of codes) {
    if (code.kind === 'open') open.push(code.number);
    if (code.kind !== 'close') continue;
    const at = open.lastIndexOf(code.number);
    if (at === -1) wrong.add(code.number);
    else {
      if (at !== open.length - 1) for (const number of open.slice(at)) wrong.add(number);
      open.splice(at, 1);
    }
  }
  for (const number of open) wrong.add(number);
  return wrong;
}

/**
 * The same codes in the same places, dealt out anew so that pairs nest: where a half stands that may not stand there,
 * it changes places with the one that may. Halves without their other half stay where they are.
 */
export function nested(codes: readonly Code[]): Code[] {
  const dealt = [...codes];
  const open: number[] = [];
  const whole = (number: number) =>
    codes.some((code) => code.kind === 'open' && code.number === number) &&
    codes.some((code) => code.kind === 'close' && code.number === number);
  for (let at = 0; at < dealt.length; at += 1) {
    const code = dealt[at]!;
    if ((code.kind !== 'open' && code.kind !== 'close') || !whole(code.number)) continue;
    if (code.kind === 'open') {
      open.push(code.number);
      continue;
    }
    const top = open.at(-1);
    if (top === code.number) open.pop();
    else if (open.includes(code.number)) {
      swap(dealt, at, (other) => other.kind === 'close' && other.number === top);
      open.pop();
    } else {
      swap(dealt, at, (other) => other.kind === 'open' && other.number === code.number);
      open.push(code.number);
    }
  }
  return dealt;
}

function swap(codes: Code[], at: number, wanted: (code: Code) => boolean): void {
  const other = codes.findIndex((code, index) => index > at && wanted(code));
  if (other === -1) return;
  [codes[at], codes[other]] = [codes[other]!, codes[at]!];
}

/**
 * A translation with every code of its source exactly once: what is missing stands at the end, what is foreign or
 * doubled is gone. A kept word that nobody asked for is still a word.
 */
export function complete(target: readonly Piece[], source: readonly Piece[]): Piece[] {
  const wanted = new Map(codesOf(source).map((code) => [keyOf(code), code]));
  const taken: Piece[] = [];
  for (const piece of target) {
    const code = codeOf(piece);
    if (!code) taken.push(piece);
    else if (wanted.delete(keyOf(code))) taken.push(piece);
    else if (code.kind === 'keep') taken.push({ text: code.text });
  }
  for (const code of wanted.values()) taken.push(pieceOf(code));
  return tidy(taken);
}
