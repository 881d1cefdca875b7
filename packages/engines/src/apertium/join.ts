/**
 * Reassembles paired codes after translation. Apertium wraps each output word separately; adjacent words with
 * the same codes are merged, including the white space between them. A code may come back in two places. It
 * then covers both if no other code is between them and the gap is not longer than the covered words;
 * otherwise it covers the longer run. A code whose words vanished ("I" is dropped in Spanish) is inserted
 * empty at the same relative position. The result is always well nested.
 */

import type { Piece } from '../engine.ts';
import type { Item } from './decode.ts';
import type { EncodingRecord } from './encoding-record.ts';
import { joinText } from './parts.ts';

/** Returns the pieces of the reply. The caller repairs lost or repeated single codes and protected words. */
export function joinCodes(read: readonly Item[], record: EncodingRecord): Piece[] {
  if (record.pairs.length === 0) return emit(read, [], record);
  let items = bridge(withoutArticles(read, record), record);
  const spans: Span[] = [];
  const lost: number[] = [];
  for (let id = 0; id < record.pairs.length; id++) {
    const span = spanOf(id, items);
    if (span === null) lost.push(id);
    else spans.push(span);
  }
  items = putBack(items, lost, record, spans);
  return takeMarks(emit(items, nest(spans), record), record);
}

/** Moves marks that the content of a pair begins or ends with in the source back into the pair. */
function takeMarks(pieces: readonly Piece[], { pairs }: EncodingRecord): Piece[] {
  const byCode = new Map(pairs.map((pair) => [pair.code, pair]));
  const started: Piece[] = [];
  for (const [at, piece] of pieces.entries()) {
    const lead = 'open' in piece ? (byCode.get(piece.open)?.lead ?? '') : '';
    const before = plainText(started.at(-1));
    const isOutside = lead !== '' && before.endsWith(lead) && !plainText(pieces[at + 1]).startsWith(lead);
    if (isOutside) started.splice(-1, 1, { text: before.slice(0, -lead.length) }, piece, { text: lead });
    else started.push(piece);
  }
  const taken: Piece[] = [];
  for (let at = started.length - 1; at >= 0; at--) {
    const piece = started[at]!;
    const trail = 'close' in piece ? (byCode.get(piece.close)?.trail ?? '') : '';
    const after = plainText(taken.at(-1));
    const isOutside = trail !== '' && after.startsWith(trail) && !plainText(started[at - 1]).endsWith(trail);
    if (isOutside) taken.splice(-1, 1, { text: after.slice(trail.length) }, piece, { text: trail });
    else taken.push(piece);
  }
  return joinText(taken.reverse()).filter(
    (piece) => !('text' in piece) || 'keep' in piece || piece.text !== '',
  );
}

/** Returns the text of a piece that is no code and no protected word. */
const plainText = (piece: Piece | undefined): string =>
  piece !== undefined && 'text' in piece && !('keep' in piece) ? piece.text : '';

const ARTICLE =
  '(?:el|la|los|las|lo|els|les|le|il|gli|un|una|une|um|uma|o|os|as|del?|dels|du|des|d[aeo]s?|della|als?|au)';
/** Matches articles, such as the one in "la casa", before another word, and the bracket before them. */
const ARTICLES = new RegExp(`^[([]?(?:${ARTICLE}\\s+|[dl]['’](?=\\p{L}))+(?=\\p{L})`, 'iu');
const ONLY_ARTICLE = new RegExp(`^[([]?(?:${ARTICLE}|[dl]['’])$`, 'iu');

/** Takes articles at the start of a pair of quotation marks out of it, if the source has a short word before it. */
function withoutArticles(items: readonly Item[], { pairs, quotes }: EncodingRecord): Item[] {
  const out = [...items];
  for (const [id, { code }] of pairs.entries()) {
    if (quotes.get(code)?.followsShort !== true) continue;
    const outside = (item: Item, text: string) => ({
      ...item,
      text,
      ids: item.ids.filter((one) => one !== id),
    });
    for (let at = 0; at < out.length; at++) {
      const item = out[at]!;
      if (!item.ids.includes(id)) continue;
      if (!('text' in item)) break;
      const { text } = item;
      const isArticle = ONLY_ARTICLE.test(text) && out.slice(at + 1).some(({ ids }) => ids.includes(id));
      const articles = isArticle ? text : (ARTICLES.exec(text)?.[0] ?? '');
      const rest = articles.length < text.length ? [{ ...item, text: text.slice(articles.length) }] : [];
      if (articles !== '') out.splice(at, 1, outside(item, articles), ...rest);
      if (!isArticle) break;
    }
  }
  return out;
}

interface Span {
  id: number;
  /** The paired code with the number `id` covers the items from the index `start` up to, but not including, `end`. */
  start: number;
  end: number;
}

const isBlank = (item: Item): boolean =>
  'fixed' in item || ('text' in item && /^[\s\p{Cc}]*$/u.test(item.text));
const sizeOf = (item: Item): number => ('text' in item ? item.text.length : 'kept' in item ? 4 : 0);

/**
 * Places each blank inside a paired code if the words before and after the blank are inside that code. A single code
 * counts as a blank. It is also placed inside a pair that surrounds it in the source, if this pair surrounds the word
 * before or after it in the reply.
 */
function bridge(items: readonly Item[], record: EncodingRecord): Item[] {
  const before: (readonly number[])[] = [];
  let ids: readonly number[] = [];
  for (const item of items) {
    before.push(ids);
    if (!isBlank(item)) ids = item.ids;
  }
  const out = [...items];
  ids = [];
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (!isBlank(item)) {
      ids = item.ids;
      continue;
    }
    const left = before[index]!;
    const right = ids;
    const within = 'fixed' in item ? record.fixed[item.fixed]!.within : [];
    out[index] = {
      ...item,
      ids: [
        ...new Set([
          ...left.filter((id) => right.includes(id)),
          ...within.filter((id) => left.includes(id) || right.includes(id)),
        ]),
      ],
    };
  }
  return spread(out, record);
}

/** Places the blanks between a word and a single code inside the paired codes that surround both. */
function spread(items: Item[], record: EncodingRecord): Item[] {
  if (record.fixed.every((each) => each.within.length === 0)) return items;
  for (const step of [1, -1]) {
    const carried = new Set<number>();
    let blanks: number[] = [];
    for (let index = step > 0 ? 0 : items.length - 1; index >= 0 && index < items.length; index += step) {
      const item = items[index]!;
      if (!isBlank(item)) {
        carried.clear();
        for (const id of item.ids) carried.add(id);
        blanks = [];
        continue;
      }
      const shared = item.ids.filter((id) => carried.has(id));
      for (const blank of blanks) {
        items[blank] = { ...items[blank]!, ids: [...new Set([...items[blank]!.ids, ...shared])] };
      }
      blanks = shared.length > 0 ? [] : [...blanks, index];
    }
  }
  return items;
}

function spanOf(id: number, items: readonly Item[]): Span | null {
  const runs: Span[] = [];
  items.forEach((item, index) => {
    if (!item.ids.includes(id)) return;
    const last = runs.at(-1);
    if (last?.end === index) last.end++;
    else runs.push({ id, start: index, end: index + 1 });
  });
  const first = runs[0];
  const last = runs.at(-1);
  if (first === undefined || last === undefined) return null;
  if (runs.length === 1) return first;
  const common = items[first.start]!.ids.filter((other) => items[last.end - 1]!.ids.includes(other));
  let gap = 0;
  let covered = 0;
  let clear = true;
  for (const item of items.slice(first.start, last.end)) {
    if (item.ids.includes(id)) covered += sizeOf(item);
    else {
      gap += sizeOf(item);
      clear &&= item.ids.every((other) => common.includes(other));
    }
  }
  if (clear && gap <= covered) return { id, start: first.start, end: last.end };
  const size = (run: Span): number =>
    items.slice(run.start, run.end).reduce((sum, item) => sum + sizeOf(item), 0);
  return runs.reduce((best, run) => (size(run) > size(best) ? run : best));
}

/**
 * Inserts the pairs whose words vanished, as empty pairs at the word boundary nearest to their relative
 * position. Moves the ranges in `spans` accordingly.
 */
function putBack(
  items: readonly Item[],
  lost: readonly number[],
  record: EncodingRecord,
  spans: Span[],
): Item[] {
  const out = [...items];
  for (const id of lost) {
    const total = out.reduce((sum, item) => sum + sizeOf(item), 0);
    let goal = Math.round(record.pairs[id]!.from * total);
    let at = 0;
    while (at < out.length && sizeOf(out[at]!) <= goal) goal -= sizeOf(out[at++]!);
    const item = out[at];
    if (item !== undefined && 'text' in item && goal > 0) {
      const space = item.text.lastIndexOf(' ', goal - 1);
      const cut = space < 0 ? 0 : space + 1;
      if (cut > 0 && cut < item.text.length) {
        const rest: Item = { ...item, text: item.text.slice(cut) };
        out.splice(at, 1, { ...item, text: item.text.slice(0, cut) }, rest);
        for (const span of spans) {
          if (span.start > at) span.start++;
          if (span.end > at) span.end++;
        }
        at++;
      } else if (cut > 0) at++;
    }
    out.splice(at, 0, { empty: id, ids: [] });
    shift(spans, at);
  }
  return out;
}

/**
 * Adjusts the ranges of items in `spans` after an insertion at `at`: later ranges move, and ranges around it
 * grow.
 */
function shift(spans: Span[], at: number): void {
  for (const span of spans) {
    if (span.start >= at) span.start++;
    if (span.end > at) span.end++;
  }
}

/** Shortens the spans (ranges of items inside a paired code) that cross each other, so that all spans form a tree. */
function nest(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end || a.id - b.id);
  const stack: Span[] = [];
  for (const span of sorted) {
    while (stack.length > 0 && stack.at(-1)!.end <= span.start) stack.pop();
    const around = stack.at(-1);
    if (around !== undefined && span.end > around.end) span.end = around.end;
    stack.push(span);
  }
  return sorted;
}

function emit(items: readonly Item[], spans: readonly Span[], record: EncodingRecord): Piece[] {
  const out: Piece[] = [];
  const text = (added: string): void => {
    const last = out.at(-1);
    if (last !== undefined && 'text' in last && !('keep' in last)) last.text += added;
    else out.push({ text: added });
  };
  const push = (piece: Piece): void => {
    if ('text' in piece && (!('keep' in piece) || piece.keep === -1)) text(piece.text);
    else out.push(piece);
  };
  const half = (id: number, side: 'open' | 'close'): void => {
    const { code } = record.pairs[id]!;
    const quote = record.quotes.get(code);
    const last = out.at(-1);
    const isInWord = side === 'open' && last !== undefined && 'text' in last && /\p{L}$/u.test(last.text);
    if (quote !== undefined) text((isInWord ? ' ' : '') + quote[side]);
    else out.push(side === 'open' ? { open: code } : { close: code });
  };
  const stack: Span[] = [];
  let next = 0;
  for (let index = 0; index <= items.length; index++) {
    while (stack.at(-1)?.end === index) half(stack.pop()!.id, 'close');
    for (; spans[next]?.start === index; next++) {
      stack.push(spans[next]!);
      half(spans[next]!.id, 'open');
    }
    const item = items[index];
    if (item === undefined) break;
    if ('text' in item) text(item.text);
    else if ('fixed' in item) record.fixed[item.fixed]!.pieces.forEach(push);
    else if ('empty' in item) {
      half(item.empty, 'open');
      half(item.empty, 'close');
    } else push(record.kept[item.kept]!);
  }
  return out;
}
