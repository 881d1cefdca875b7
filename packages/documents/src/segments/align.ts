/**
 * Aligns a translation that the customer supplied with the segments of the source document. Units are matched first,
 * then the sentences within a unit if their lengths agree. If the lengths do not agree, the unit's first segment gets
 * the whole text. No text is lost: a sentence without a counterpart is added to the sentence before it. The segment
 * without a translation cannot be confirmed, so an editor notices that it is empty.
 */

import type { Document, Piece, Unit } from '../model/document.ts';
import { TRAITS } from '../model/formats.ts';
import { flowOf, segmentCues } from './cues.ts';
import { alignLengths, type Bead } from './lengths.ts';
import { keyOf, mergeText, repair } from './repair.ts';
import { isText, type Run, sliceRun } from './runs.ts';
import { type CutSegment, hasLetters, piecesOf, segmentUnit, sentences, trim } from './segmentation.ts';

/**
 * - `sentences differ`: the translation has other sentence borders than the source. The segment's translation was
 *   joined from several sentences, or is part of the previous segment's translation.
 * - `code restored`, `code removed`, `code moved`: the notes of `repair`.
 */
export type AlignNote = 'sentences differ' | 'code restored' | 'code removed' | 'code moved';

export interface Aligned {
  /** The id of the segment, as the function `segments` returns it. */
  id: string;
  /**
   * The supplied translation of the segment, or undefined if there is none. If its text was added to another
   * segment, the pieces have codes but no words.
   */
  pieces: Piece[] | undefined;
  notes: AlignNote[];
}

/** A segment of the source that needs a translation. */
interface Wanted {
  id: string;
  cut: CutSegment;
}

/** Some segments of the source, with the supplied sentences that correspond to them. */
interface Group {
  wanted: Wanted[];
  supplied: Run[][];
  /** Whether sentences were added that have no counterpart in the source. */
  differs?: boolean;
}

/** The largest accepted deviation between the lengths of a sentence and its translation, in standard deviations. */
const MOST_STRAIN = 4;

/**
 * Returns one result for each segment, in the order of `segments(source, from)`.
 *
 * @param supplied the translation, scanned like the source but with `reads: 'target'`
 */
export function align(source: Document, supplied: Document, from: string, to: string): Aligned[] {
  const groups =
    TRAITS[source.format].isSubtitles && source.units.length === supplied.units.length
      ? cueGroups(source, supplied, from, to)
      : unitGroups(source, supplied, from, to);
  return groups.flatMap((group) => alignGroup(source, supplied, group));
}

function alignGroup(
  source: Document,
  supplied: Document,
  { wanted, supplied: texts, differs: isMore = false }: Group,
): Aligned[] {
  if (wanted.length === 0) return [];
  if (texts.length === 0) return wanted.map(({ id }) => ({ id, pieces: undefined, notes: [] }));
  return share(wanted, texts).map(({ runs, differs }, index) => {
    const { id, cut } = wanted[index]!;
    const { pieces, notes } = withCodesOf(source, cut, supplied, runs);
    return { id, pieces, notes: differs || isMore ? ['sentences differ', ...notes] : notes };
  });
}

/** Assigns the supplied sentences to the segments of the source. */
function share(wanted: readonly Wanted[], texts: readonly Run[][]): { runs: Run[]; differs: boolean }[] {
  const shares = wanted.map(() => ({ runs: [] as Run[], differs: false }));
  const give = (index: number, from: number, to: number, differs: boolean) => {
    const one = shares[index]!;
    for (const runs of texts.slice(from, to)) one.runs.push(...runs);
    one.differs ||= differs;
  };
  const beads = alignLengths(
    wanted.map(({ cut }) => lengthOf(cut.runs)),
    texts.map(lengthOf),
  );
  if (wanted.length === 1 || !agree(beads)) {
    give(0, 0, texts.length, false);
    for (const one of shares) one.differs = wanted.length > 1;
    return shares;
  }
  let last = 0;
  for (const { source, target } of beads) {
    const first = source.from < source.to ? source.from : last;
    const isPair = source.to - source.from === 1 && target.to - target.from === 1;
    give(first, target.from, target.to, !isPair);
    for (let index = source.from; index < source.to; index++) shares[index]!.differs ||= !isPair;
    if (source.to > source.from) last = source.to - 1;
  }
  return shares;
}

/**
 * Returns true if the lengths of all aligned sentences are in proportion, and if sentences without a counterpart are
 * only in the source or only in the translation.
 */
function agree(beads: readonly Bead[]): boolean {
  const isAlone = ({ from, to }: Bead['source']) => from === to;
  const lacks = beads.some(({ source }) => isAlone(source)) && beads.some(({ target }) => isAlone(target));
  return !lacks && beads.every(({ strain }) => strain <= MOST_STRAIN);
}

const lengthOf = (runs: readonly Run[]): number =>
  runs.reduce((sum, run) => sum + (isText(run) ? run.text.length : (run.code.text?.length ?? 0)), 0);

/** Matches units by position. In plain text, where the number of lines may differ, matches lines by their lengths. */
function unitGroups(source: Document, supplied: Document, from: string, to: string): Group[] {
  const cutsOf = (unit: Unit): Wanted[] =>
    segmentUnit(source, unit, from).cuts.map((cut, index) => ({ id: `${unit.index}.${index}`, cut }));
  const textsOf = (units: readonly Unit[], own: readonly Unit[]) =>
    beyond(
      sentencesOf(flowOf(supplied, units), to, units[0]?.segmented === true),
      sentencesOf(flowOf(source, own), from, own[0]?.segmented === true),
    );
  const wanted = source.units.filter(({ translatable }) => translatable);
  const places = placesOf(source, supplied);
  if (places !== undefined) {
    const groups: Group[] = wanted.map((unit) => {
      const other = places.get(unit);
      const isThere = other !== undefined && wasSupplied(source, unit, supplied, other);
      return { wanted: cutsOf(unit), supplied: isThere ? textsOf([other], [unit]) : [] };
    });
    return source.format === 'text' ? withNeighbours(groups) : groups;
  }
  const own = wanted.map((unit) => ({ unit, cuts: cutsOf(unit) })).filter(({ cuts }) => cuts.length > 0);
  const others = supplied.units.filter((unit) => textsOf([unit], []).length > 0);
  const beads = alignLengths(
    own.map(({ cuts }) => cuts.reduce((sum, { cut }) => sum + lengthOf(cut.runs), 0)),
    others.map(({ start, end }) => end - start),
  );
  const groups: { wanted: Wanted[]; own: Unit[]; units: Unit[] }[] = [];
  const before: Unit[] = [];
  for (const { source: one, target } of beads) {
    const units = others.slice(target.from, target.to);
    const owned = own.slice(one.from, one.to);
    const last = groups.at(-1);
    if (owned.length > 0) {
      groups.push({
        wanted: owned.flatMap(({ cuts }) => cuts),
        own: owned.map(({ unit }) => unit),
        units: [...before.splice(0), ...units],
      });
    } else if (last === undefined) before.push(...units);
    else last.units.push(...units);
  }
  return groups.map((group) => ({ wanted: group.wanted, supplied: textsOf(group.units, group.own) }));
}

/**
 * Adds to each line of a text the words that the translation has in the next lines where the source has a number alone,
 * which is no segment. Before the first segment, they are added to its line.
 */
function withNeighbours(groups: readonly Group[]): Group[] {
  const added = new Map(groups.map((group): [Group, Group[]] => [group, []]));
  let line = groups.find(({ wanted }) => wanted.length > 0);
  for (const group of groups) {
    const isLost = group.wanted.length === 0 && group.supplied.some(hasLetters);
    if (group.wanted.length > 0) line = group;
    if (line !== undefined && (group === line || isLost)) added.get(line)!.push(group);
  }
  const space: Run = { text: ' ', start: 0, end: 0, whole: true };
  return groups.map((group) => {
    const lines = added.get(group)!;
    if (lines.length < 2) return group;
    const supplied = lines.flatMap((one) => one.supplied.map((runs) => [...runs, space]));
    return { ...group, supplied, differs: true };
  });
}

/** Matches units by position. Returns undefined if the documents have different numbers of units. */
function placesOf(source: Document, supplied: Document): Map<Unit, Unit> | undefined {
  const pair = (own: readonly Unit[], others: readonly Unit[]) =>
    own.length === others.length ? new Map(own.map((unit, index) => [unit, others[index]!])) : undefined;
  return (
    pair(source.units, supplied.units) ??
    // XLIFF texts inside inline codes are separate units, and source and target may have different numbers of
    // them.
    (source.format === 'xliff'
      ? pair(source.units.filter(isWhole), supplied.units.filter(isWhole))
      : undefined)
  );
}

/** Returns true if both documents have the same number of units, so that one may be a translation of the other. */
export function haveSameUnits(source: Document, supplied: Document): boolean {
  return source.format === 'text' || placesOf(source, supplied) !== undefined;
}

const isWhole = ({ target }: Unit): boolean => target !== undefined;

/** Returns true if the customer supplied a translation for a unit. In XLIFF, a unit without a `target` has none. */
function wasSupplied(source: Document, unit: Unit, supplied: Document, other: Unit): boolean {
  const { target } = other;
  if (target === undefined || target.action === 'leave') return true;
  if (target.action === 'replace' && target.hadText) return true;
  // Some customers write the translation into the `source` element. A source that differs from the original therefore
  // counts as a translation.
  const [given, made] = [
    source.text.slice(unit.start, unit.end),
    supplied.text.slice(other.start, other.end),
  ];
  return given !== made;
}

/**
 * Groups sentences that share a cue, directly or through other sentences. Each group has all cues of its
 * sentences.
 */
function cueGroups(source: Document, supplied: Document, from: string, to: string): Group[] {
  const groups: { wanted: Wanted[]; first: number; last: number }[] = [];
  for (const { id, cut, cues } of segmentCues(source, from)) {
    const [first, last] = [cues.reduce((a, b) => Math.min(a, b)), cues.reduce((a, b) => Math.max(a, b))];
    const group = groups.at(-1);
    if (group !== undefined && first <= group.last) {
      group.wanted.push({ id, cut });
      group.last = Math.max(group.last, last);
    } else groups.push({ wanted: [{ id, cut }], first, last });
  }
  return groups.map(({ wanted, first, last }) => ({
    wanted,
    supplied: beyond(
      sentencesOf(flowOf(supplied, supplied.units.slice(first, last + 1)), to, false),
      sentencesOf(flowOf(source, source.units.slice(first, last + 1)), from, false),
    ),
  }));
}

/** Returns sentences, each with the white space after it, so that several can be joined. */
function sentencesOf(runs: readonly Run[], language: string, segmented: boolean): Run[][] {
  const stretches: Run[][] = [[]];
  for (const run of runs) {
    const stretch = stretches.at(-1)!;
    if (isText(run) || run.code.kind !== 'gap') stretch.push(run);
    else {
      // A line break ends a sentence. The space keeps the words apart if both sentences are joined later.
      stretch.push({ text: ' ', start: run.start, end: run.start, whole: true });
      stretches.push([]);
    }
  }
  return stretches.flatMap((stretch) =>
    hasWords(stretch) ? sentences(stretch, language, segmented).filter(hasWords) : [],
  );
}

/** Numbers count as words, because one text may spell out a number that the other has in digits. */
const hasWords = (runs: readonly Run[]): boolean =>
  runs.some((run) => (isText(run) ? run.text.trim() !== '' : run.code.kind === 'keep'));

/** The text that readers see, with protected words. */
const seenText = (runs: readonly Run[]): string =>
  runs
    .map((run) => (isText(run) ? run.text : run.code.kind === 'keep' ? (run.code.text ?? '') : ''))
    .join('');

const textOf = (runs: readonly Run[]): string => runs.map((run) => (isText(run) ? run.text : '')).join('');

/**
 * Removes supplied sentences without letters (`1.1.`, `…`, `{{name}}`) that the source also has. The rebuilt document
 * copies them from the source, so the translation must not add them a second time.
 */
function beyond(supplied: Run[][], source: readonly Run[][]): Run[][] {
  const staying = source
    .filter((runs) => !hasLetters(runs))
    .map(seenText)
    .filter((text) => text.trim() !== '');
  if (staying.length === 0) return supplied;
  // In languages that write ordinals with a full stop (German `1.`), a leading number is no separate
  // sentence. It is then at the start of the first supplied sentence and is removed from it.
  const lead = staying[0] === textOf(source[0]!) ? staying[0].trim() : '';
  const first = supplied[0];
  const isInFront = lead !== '' && first !== undefined && textOf(first).trimStart().startsWith(lead);
  const isMore = isInFront && /\p{L}/u.test(textOf(first));
  const rest = isMore ? [withoutLead(first, lead), ...supplied.slice(1)] : supplied;
  /** For each text without letters, the number of times that the document copies it from the source. */
  const left = new Map<string, number>();
  for (const text of staying.slice(isMore ? 1 : 0)) left.set(text.trim(), (left.get(text.trim()) ?? 0) + 1);
  return rest.filter((runs) => {
    const text = seenText(runs).trim();
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count === 0;
  });
}

function withoutLead(runs: readonly Run[], lead: string): Run[] {
  const text = textOf(runs);
  let skip = text.length - text.trimStart().length + lead.length;
  return runs.flatMap((run): Run[] => {
    if (!isText(run) || skip === 0) return [run];
    const used = Math.min(skip, run.text.length);
    skip -= used;
    return used === run.text.length ? [] : [sliceRun(run, used, run.text.length)];
  });
}

/** A code of a segment. The opening and the closing half of a pair are one code. */
interface Inline {
  kind: 'pair' | 'single' | 'keep';
  /** The code as it is written in the document. For a pair, the first half. */
  raw: string;
  /** The name of the element, or an empty string if the code is not an element. */
  name: string;
  piece: Piece;
  number: number;
}

/**
 * Replaces each supplied code with a code of the source: an identical code, else one of the same element, else the
 * next in order.
 */
function withCodesOf(
  source: Document,
  cut: CutSegment,
  supplied: Document,
  given: Run[],
): { pieces: Piece[]; notes: AlignNote[] } {
  const runs = trim(given);
  const pieces = piecesOf(runs);
  const found = inlinesOf(supplied, runs, pieces);
  const partner = partnersOf(found, inlinesOf(source, cut.runs, cut.pieces));
  const byKey = new Map(found.map((inline) => [`${inline.kind} ${inline.number}`, partner.get(inline)]));
  const mapped = pieces.flatMap((piece): Piece[] => {
    if ('keep' in piece) {
      const other = byKey.get(`keep ${piece.keep}`);
      return [other?.piece ?? { text: piece.text }];
    }
    if ('text' in piece) return [piece];
    if ('single' in piece) {
      const other = byKey.get(`single ${piece.single}`);
      return other === undefined ? [] : [other.piece];
    }
    const number = 'open' in piece ? piece.open : piece.close;
    const other = byKey.get(`pair ${number}`);
    if (other === undefined) return [];
    return ['open' in piece ? { open: other.number } : { close: other.number }];
  });
  const repaired = repair(cut.pieces, mergeText(mapped));
  return { pieces: repaired.pieces, notes: repaired.notes };
}

/**
 * Matches each supplied code with a code of the source: an identical code, else one of the same element, else one of
 * the same kind.
 */
function partnersOf(found: readonly Inline[], own: readonly Inline[]): Map<Inline, Inline> {
  const partner = new Map<Inline, Inline>();
  const taken = new Set<Inline>();
  const likeness: ((one: Inline) => string | undefined)[] = [
    ({ kind, raw }) => `${kind} ${raw}`,
    ({ kind, name }) => (name === '' ? undefined : `${kind} ${name}`),
    ({ kind, name }) => (kind === 'single' ? kind : `${kind} ${name}`),
  ];
  for (const keyFor of likeness) {
    const free = Map.groupBy(
      own.filter((one) => !taken.has(one)),
      keyFor,
    );
    const used = new Map<string, number>();
    for (const inline of found) {
      const key = keyFor(inline);
      if (key === undefined || partner.has(inline)) continue;
      const at = used.get(key) ?? 0;
      const other = free.get(key)?.[at];
      if (other === undefined) continue;
      used.set(key, at + 1);
      partner.set(inline, other);
      taken.add(other);
    }
  }
  return partner;
}

function inlinesOf(document: Document, runs: readonly Run[], pieces: readonly Piece[]): Inline[] {
  const codeRuns = runs.filter((run) => !isText(run));
  return pieces
    .filter((piece) => keyOf(piece) !== '')
    .flatMap((piece, index): Inline[] => {
      if ('close' in piece) return [];
      const run = codeRuns[index]!;
      const raw = document.text.slice(run.start, run.end);
      const name = /^<([^\s<>/]+)/.exec(raw)?.[1]?.toLowerCase() ?? '';
      if ('open' in piece) return [{ kind: 'pair', raw, name, piece, number: piece.open }];
      if ('keep' in piece) return [{ kind: 'keep', raw, name, piece, number: piece.keep }];
      return [{ kind: 'single', raw, name, piece, number: (piece as { single: number }).single }];
    });
}
