import type { Piece } from '@dragoman/documents/pieces';
import type { Check, Range } from './finding.ts';

interface Code {
  kind: 'open' | 'close' | 'single' | 'keep';
  number: number;
  text: string;
}

type Problem = { values: Record<string, string | number>; range?: Range };

/**
 * Severity is error, because the document cannot be rebuilt unless each code of the source occurs exactly
 * once. In a finding, `problem` is `missing`, `doubled`, `unknown`, `crossing`, or `changed` when the text of
 * a protected word differs.
 */
export const codes: Check = {
  id: 'codes',
  severity: 'error',
  question:
    'Does the translation have every code of the source exactly once, and are pairs of codes nested correctly?',
  find({ source, target }) {
    const wanted = new Map<string, Code>();
    for (const piece of source) {
      const code = codeOf(piece);
      if (code !== undefined) wanted.set(keyOf(code), code);
    }
    const found: Problem[] = [];
    const seen = new Set<string>();
    const open: number[] = [];
    let position = 0;
    for (const piece of target) {
      const end = position + ('text' in piece ? piece.text.length : 0);
      const code = codeOf(piece);
      const range = { start: position, end };
      position = end;
      if (code === undefined) continue;
      const key = keyOf(code);
      const original = wanted.get(key);
      if (original === undefined) found.push({ values: named('unknown', code), range });
      else if (seen.has(key)) found.push({ values: named('doubled', code), range });
      else {
        seen.add(key);
        if (original.text !== code.text) found.push({ values: named('changed', original), range });
        if (code.kind === 'open') open.push(code.number);
        if (code.kind === 'close' && open.pop() !== code.number) {
          found.push({ values: named('crossing', code), range });
        }
      }
    }
    for (const [key, code] of wanted) {
      if (!seen.has(key)) found.push({ values: named('missing', code) });
    }
    return found;
  },
};

function codeOf(piece: Piece): Code | undefined {
  if ('keep' in piece) return { kind: 'keep', number: piece.keep, text: piece.text };
  if ('open' in piece) return { kind: 'open', number: piece.open, text: '' };
  if ('close' in piece) return { kind: 'close', number: piece.close, text: '' };
  if ('single' in piece) return { kind: 'single', number: piece.single, text: '' };
  return undefined;
}

const keyOf = ({ kind, number }: Code) => `${kind} ${number}`;

const named = (problem: string, { kind, number, text }: Code) => ({
  problem,
  kind,
  code: number,
  ...(text === '' ? {} : { text }),
});
