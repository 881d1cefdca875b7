/** The history of a propagation run, and the invariants that it must satisfy. */
import type { Check, Checks } from '../harness/run.ts';

/** A save of a segment, as recorded by the simulated editor that sent it. */
export interface Save {
  uid: string;
  position: number;
  text: string;
  status: 'draft' | 'confirmed';
  /** `unknown` means that no response came before the end of the run. */
  answer: 'saved' | 'unknown';
  revision: number;
}

/** A segment that its editor had not touched, read at the beginning of the claim and again near its end. */
export interface Sight {
  uid: string;
  position: number;
  before: string;
  now: string;
}

/** A segment as it is stored. Pieces are JSON texts of the database. */
export interface StoredSegment {
  uid: string;
  position: number;
  source: string;
  draft: string;
  route: string | null;
  notes: string;
  /**
   * The target of the segment's edit, and its revision; null if neither an editor nor a vote has edited or
   * confirmed it.
   */
  target: string | null;
  revision: number | null;
  /**
   * If a vote confirmed the segment, the revision of that edit. If a vote only filled its draft, 0. Otherwise
   * null.
   */
  filled: number | null;
}

/** A stored vote that has not been withdrawn. */
export interface StoredVote {
  uid: string;
  position: number;
  editor: string;
  target: string;
}

export interface PropagationHistory {
  saves: Save[];
  sights: Sight[];
  kills: number;
  /** The segments before the editors began, after the last work was done, and after the undo of all votes. */
  before: StoredSegment[];
  after: StoredSegment[];
  undone: StoredSegment[];
  votes: StoredVote[];
  seconds: number;
  /** True if all work ended in time. */
  settled: boolean;
}

type PropagationCheck = Check<PropagationHistory>;

interface Pieces {
  text: string;
  codes: string;
}

/** Returns the words and the codes of pieces. */
function split(pieces: string): Pieces {
  const all = JSON.parse(pieces) as Record<string, unknown>[];
  const codes = all.filter((piece) => !('text' in piece)).map((piece) => JSON.stringify(piece));
  return { text: all.map(({ text }) => text ?? '|').join(''), codes: codes.toSorted().join() };
}

const placeOf = ({ uid, position }: { uid: string; position: number }) => `${uid} ${position}`;
const isTouched = ({ revision, filled }: StoredSegment) => revision !== null && revision !== filled;

/** Checks that every segment has the text that its editor saved last. */
const nothingOverwritten: PropagationCheck = ({ saves, after }) => {
  const now = new Map(after.map((segment) => [placeOf(segment), segment]));
  return [...Map.groupBy(saves, placeOf)].flatMap(([place, own]) => {
    const saved = own.filter(({ answer }) => answer === 'saved');
    const last = saved.toSorted((one, other) => other.revision - one.revision)[0];
    if (last === undefined) return [];
    const { target } = now.get(place)!;
    const text = target === null ? undefined : split(target).text;
    const isKnown = text === last.text || own.some((one) => one.answer === 'unknown' && one.text === text);
    return isKnown ? [] : [`${place} has another text than its editor saved last`];
  });
};

/** Checks that no draft and no target has other codes than its source. */
const sameCodes: PropagationCheck = ({ after }) =>
  after.flatMap((segment) => {
    const { codes } = split(segment.source);
    return [segment.draft, segment.target].some((pieces) => pieces !== null && split(pieces).codes !== codes)
      ? [`${placeOf(segment)} has other codes than its source`]
      : [];
  });

/** Checks that no text changed while an editor held its task. */
const nothingTouched: PropagationCheck = ({ sights }) =>
  sights.filter(({ before, now }) => before !== now).map((one) => `${placeOf(one)} changed under its editor`);

/**
 * Checks that every waiting segment with votes for one text has this text. If the votes differ, the place of the
 * segment decides, so the text of any of them is right.
 */
const allFilled: PropagationCheck = ({ after, votes }) => {
  const sources = new Map(after.map((segment) => [placeOf(segment), split(segment.source).text]));
  const texts = new Map<string, Set<string>>();
  for (const vote of votes) {
    const source = sources.get(placeOf(vote))!;
    texts.set(source, (texts.get(source) ?? new Set()).add(split(vote.target).text));
  }
  return after.flatMap((segment) => {
    const voted = texts.get(split(segment.source).text);
    if (voted === undefined || isTouched(segment)) return [];
    if (segment.filled === null) {
      return voted.size > 1 ? [] : [`${placeOf(segment)} waits without the text of its votes`];
    }
    return voted.has(split(segment.draft).text) ? [] : [`${placeOf(segment)} has a text without a vote`];
  });
};

/** Checks that a vote confirmed a text only if two editors agree. */
const agreed: PropagationCheck = ({ after, votes }) => {
  const sources = new Map(after.map((segment) => [placeOf(segment), split(segment.source).text]));
  const editors = new Map<string, Set<string>>();
  for (const vote of votes) {
    const key = `${sources.get(placeOf(vote))} → ${split(vote.target).text}`;
    editors.set(key, (editors.get(key) ?? new Set()).add(vote.editor));
  }
  return after.flatMap((segment) => {
    if (!segment.filled || isTouched(segment)) return [];
    const key = `${split(segment.source).text} → ${split(segment.target!).text}`;
    return (editors.get(key)?.size ?? 0) > 1 ? [] : [`${placeOf(segment)} was confirmed by one editor`];
  });
};

/** Checks that the undo of all votes gives every untouched segment its former draft, byte for byte. */
const exactUndo: PropagationCheck = ({ before, undone }) => {
  const former = new Map(before.map((segment) => [placeOf(segment), segment]));
  const shown = ({ draft, route, notes, target }: StoredSegment) =>
    JSON.stringify({ draft, route, notes, target });
  return undone.flatMap((segment) => {
    if (isTouched(segment)) return [];
    const isSame = shown(segment) === shown(former.get(placeOf(segment))!);
    return isSame && segment.filled === null
      ? []
      : [`${placeOf(segment)} did not return to its former draft`];
  });
};

const settled: PropagationCheck = (history) => (history.settled ? [] : ['the work did not end in time']);

export const CHECKS = {
  'saved texts that were overwritten': nothingOverwritten,
  'texts with other codes': sameCodes,
  'texts that changed under their editor': nothingTouched,
  'waiting repeats without the text of their votes': allFilled,
  'texts confirmed without agreement': agreed,
  'untouched segments that an undo did not restore': exactUndo,
  'work that did not end': settled,
} satisfies Checks<PropagationHistory>;
