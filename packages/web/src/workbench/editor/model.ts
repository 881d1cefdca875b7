/** The ProseMirror document of one target: only text and codes, so that no styling can be pasted. */
import { type Node, Schema } from 'prosemirror-model';
import { type Code, type CodeKind, codeOf, labelOf, normalize, type Piece, pieceOf } from '../text/pieces.ts';

const kinds = new Set(['open', 'close', 'single', 'keep', 'cut']);

export const schema = new Schema({
  nodes: {
    // `pre` keeps every typed space.
    doc: { content: 'inline*', whitespace: 'pre' },
    text: { group: 'inline' },
    code: {
      group: 'inline',
      inline: true,
      atom: true,
      draggable: true,
      attrs: { kind: {}, number: {}, text: { default: '' } },
      // This HTML is used for copying. `chip.ts` draws the visible chip.
      toDOM: (node) => [
        'span',
        {
          'data-code': node.attrs.kind,
          'data-number': String(node.attrs.number),
          'data-text': node.attrs.text,
        },
        labelOf(node.attrs as Code),
      ],
      parseDOM: [
        {
          tag: 'span[data-code]',
          getAttrs: (element) => {
            const { code, number, text } = element.dataset;
            if (code === undefined || !kinds.has(code) || !/^\d{1,9}$/.test(number ?? '')) return false;
            return { kind: code, number: Number(number), text: text ?? '' };
          },
        },
      ],
    },
  },
});

export const codeType = schema.nodes.code!;

export function nodeOf(code: Code): Node {
  return codeType.create({ kind: code.kind, number: code.number, text: code.text });
}

export function codeAt(node: Node): Code {
  return {
    kind: node.attrs.kind as CodeKind,
    number: node.attrs.number as number,
    text: node.attrs.text as string,
  };
}

export function nodesOf(pieces: readonly Piece[]): Node[] {
  return normalize(pieces).map((piece) => {
    const code = codeOf(piece);
    return code ? nodeOf(code) : schema.text((piece as { text: string }).text);
  });
}

export function documentOf(pieces: readonly Piece[]): Node {
  return schema.topNodeType.create(null, nodesOf(pieces));
}

export function piecesOf(document: Node): Piece[] {
  const pieces: Piece[] = [];
  document.forEach((node) => {
    pieces.push(node.type === codeType ? pieceOf(codeAt(node)) : { text: node.text! });
  });
  return pieces;
}

/** Returns where ranges of the visible text are in a document. A range is divided at codes. */
export function placedRanges(
  document: Node,
  ranges: readonly { start: number; end: number }[],
): { from: number; to: number }[] {
  const placed: { from: number; to: number }[] = [];
  if (ranges.length === 0) return placed;
  let length = 0;
  document.forEach((node, at) => {
    const text = node.isText ? node.text! : String(node.attrs.text);
    for (const { start, end } of ranges) {
      const from = Math.max(0, start - length);
      const to = Math.min(text.length, end - length);
      if (node.isText && from < to) placed.push({ from: at + from, to: at + to });
    }
    length += text.length;
  });
  return placed;
}

/** Returns the codes of a document with their offsets. */
export function placedCodes(document: Node): { code: Code; at: number }[] {
  const codes: { code: Code; at: number }[] = [];
  document.forEach((node, at) => {
    if (node.type === codeType) codes.push({ code: codeAt(node), at });
  });
  return codes;
}

/** Returns the places where a code may stand: word boundaries and next to other codes. */
export function codeStops(document: Node, language: string): number[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  const stops = new Set([0, document.content.size]);
  document.forEach((node, at) => {
    stops.add(at).add(at + node.nodeSize);
    if (node.isText) for (const { index } of segmenter.segment(node.text!)) stops.add(at + index);
  });
  return [...stops].sort((one, other) => one - other);
}
