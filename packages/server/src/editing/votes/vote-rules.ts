/** Decides which text of the votes for a reading is filled into waiting segments. The functions are pure. */
import type { ReadingContext } from './readings.ts';

/** The fields of a vote that decide which text is elected. */
export interface CountedVote {
  vote_id: string;
  context: ReadingContext;
  editor_id: string;
  reviewed: boolean;
  target_hash: Buffer;
  voted_at: Date;
}

export interface Elected<V extends CountedVote> {
  /** The earliest vote for the elected text. */
  vote: V;
  /** The editors who voted for the elected text, in the order of their votes. */
  editors: string[];
  /** True if a reviewer or two editors agree and no other text has as much support. */
  certain: boolean;
}

/**
 * Returns the elected text for a segment whose place in its document is `context`. Only the latest vote of an
 * editor counts in each context. If the votes of different contexts prefer different texts, each context has
 * its own elected text. A reviewer's text comes first, then the text of most editors, then the earliest.
 * @returns undefined if no text is elected for this context
 */
export function elect<V extends CountedVote>(
  votes: readonly V[],
  context: ReadingContext,
): Elected<V> | undefined {
  const latest = new Map<string, V>();
  const inOrder = votes.toSorted(
    (a, b) => a.voted_at.getTime() - b.voted_at.getTime() || (a.vote_id < b.vote_id ? -1 : 1),
  );
  for (const vote of inOrder) latest.set(`${vote.context} ${vote.editor_id}`, vote);
  const counted = inOrder.filter((vote) => latest.get(`${vote.context} ${vote.editor_id}`) === vote);
  const byContext = Map.groupBy(counted, (vote) => vote.context);
  const preferred = new Set([...byContext.values()].map((own) => nameOf(rank(own)[0]!.vote)));
  const heard = preferred.size > 1 ? (byContext.get(context) ?? []) : counted;
  const [first, second] = rank(heard);
  if (first === undefined) return undefined;
  const { vote, editors } = first;
  const isEnough = first.reviewed || editors.length > 1;
  return { vote, editors, certain: isEnough && (second === undefined || compare(first, second) < 0) };
}

/**
 * Returns the elected text for a segment of a job. If the votes of its own job elect another text than all votes do, the
 * document keeps its own text, and is consistent in itself.
 */
export function electFor<V extends CountedVote & { job_id: string }>(
  votes: readonly V[],
  { job_id: jobId, context }: { job_id: string; context: ReadingContext },
): Elected<V> | undefined {
  const all = elect(votes, context);
  const own = elect(
    votes.filter((vote) => vote.job_id === jobId),
    context,
  );
  return own === undefined || (all !== undefined && nameOf(all.vote) === nameOf(own.vote)) ? all : own;
}

interface Support<V> {
  vote: V;
  editors: string[];
  reviewed: boolean;
}

function rank<V extends CountedVote>(votes: readonly V[]): Support<V>[] {
  return [...Map.groupBy(votes, nameOf).values()]
    .map((same) => ({
      vote: same[0]!,
      editors: [...new Set(same.map((vote) => vote.editor_id))],
      reviewed: same.some((vote) => vote.reviewed),
    }))
    .sort(compare);
}

function compare(a: Support<unknown>, b: Support<unknown>): number {
  return Number(b.reviewed) - Number(a.reviewed) || b.editors.length - a.editors.length;
}

const nameOf = (vote: CountedVote): string => vote.target_hash.toString('base64');
