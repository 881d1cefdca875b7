/** Tests which text of the votes for a reading is elected. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { READING_CONTEXTS, type ReadingContext } from './readings.ts';
import { type CountedVote, elect } from './vote-rules.ts';

const TEXTS = ['one', 'two', 'three'] as const;
const EDITORS = ['ann', 'bob', 'cy'] as const;

interface VoteFields {
  text: string;
  editor: string;
  /** The second of the vote. Votes with the same number were cast at the same moment. */
  at: number;
  reviewed: boolean;
  context: ReadingContext;
}

function voteOf(fields: Partial<VoteFields>, id: number): CountedVote {
  const { text = 'one', editor = 'ann', at = 0, reviewed = false, context = 'only' } = fields;
  return {
    vote_id: String(id).padStart(3, '0'),
    context,
    editor_id: editor,
    reviewed,
    target_hash: Buffer.from(text),
    voted_at: new Date(at * 1000),
  };
}
const votesOf = (...votes: Partial<VoteFields>[]) => votes.map(voteOf);

/** Returns what is elected, in words. */
function outcomeOf(votes: readonly CountedVote[], context: ReadingContext = 'only') {
  const elected = elect(votes, context);
  if (elected === undefined) return undefined;
  const { vote, editors, certain } = elected;
  return { text: vote.target_hash.toString(), vote: vote.vote_id, editors, certain };
}

/** Votes with few texts, editors and moments, so that ties and repeated votes of one editor are frequent. */
const ballot = (contexts: readonly ReadingContext[] = READING_CONTEXTS) =>
  fc
    .array(
      fc.record({
        text: fc.constantFrom(...TEXTS),
        editor: fc.constantFrom(...EDITORS),
        at: fc.nat({ max: 3 }),
        reviewed: fc.boolean(),
        context: fc.constantFrom(...contexts),
      }),
      { maxLength: 8 },
    )
    .map((fields) => fields.map(voteOf));

const later = (a: CountedVote, b: CountedVote) =>
  a.voted_at.getTime() - b.voted_at.getTime() || (a.vote_id > b.vote_id ? 1 : -1);

/** Returns the votes that count, in their order: the latest of each editor. @param votes votes of one context */
function latestOf(votes: readonly CountedVote[]): CountedVote[] {
  const isLatest = (vote: CountedVote) =>
    votes.every((other) => other === vote || other.editor_id !== vote.editor_id || later(vote, other) > 0);
  return votes.filter(isLatest).sort(later);
}

describe('the elected text', () => {
  it('does not depend on the order in which the votes are read', () => {
    const shuffled = ballot().chain((votes) =>
      fc.tuple(fc.constant(votes), fc.shuffledSubarray(votes, { minLength: votes.length })),
    );
    fc.assert(
      fc.property(shuffled, fc.constantFrom(...READING_CONTEXTS), ([votes, other], context) => {
        expect(elect(other, context)).toEqual(elect(votes, context));
      }),
    );
  });

  it('is that of a reviewer, otherwise that of most editors, otherwise the earliest', () => {
    fc.assert(
      fc.property(ballot(['only']), (votes) => {
        const counted = latestOf(votes);
        const outcome = outcomeOf(votes);
        expect(outcome === undefined).toBe(counted.length === 0);
        if (outcome === undefined) return;
        const supportOf = (text: string) => {
          const same = counted.filter(({ target_hash: hash }) => hash.toString() === text);
          return same.length + (same.some(({ reviewed }) => reviewed) ? 100 : 0);
        };
        const most = Math.max(...TEXTS.map(supportOf));
        const best = TEXTS.filter((text) => supportOf(text) === most);
        const earliest = counted.find(({ target_hash: hash }) =>
          best.some((text) => text === hash.toString()),
        );
        expect(outcome.vote).toBe(earliest!.vote_id);
        expect(outcome.editors).toHaveLength(most % 100);
        // A reviewer or two editors are enough, if no other text has as much support.
        expect(outcome.certain).toBe(most > 1 && best.length === 1);
      }),
    );
  });

  it('stays when another editor votes for it', () => {
    fc.assert(
      fc.property(
        ballot(),
        fc.constantFrom(...READING_CONTEXTS),
        fc.nat({ max: 4 }),
        (votes, context, at) => {
          const before = outcomeOf(votes, context);
          if (before === undefined) return;
          const agreeing = voteOf({ text: before.text, editor: 'eve', at, context }, 99);
          const after = outcomeOf([...votes, agreeing], context);
          expect(after?.text).toBe(before.text);
          expect(after?.editors).toContain('eve');
        },
      ),
    );
  });

  it('is undefined without votes', () => expect(outcomeOf([])).toBeUndefined());
});

describe('two votes at the same moment', () => {
  it('for the same text agree', () => {
    expect(outcomeOf(votesOf({ editor: 'ann' }, { editor: 'bob' }))).toEqual({
      text: 'one',
      vote: '000',
      editors: ['ann', 'bob'],
      certain: true,
    });
  });

  it('for different texts elect the one with the lower id, uncertainly', () => {
    const votes = votesOf({ editor: 'ann', text: 'one' }, { editor: 'bob', text: 'two' });
    expect(outcomeOf(votes)).toMatchObject({ text: 'one', certain: false });
    expect(outcomeOf(votes.toReversed())).toMatchObject({ text: 'one', certain: false });
  });

  it('of one editor count as one vote, that with the higher id', () => {
    expect(outcomeOf(votesOf({ text: 'one' }, { text: 'two' }))).toMatchObject({
      text: 'two',
      editors: ['ann'],
      certain: false,
    });
  });
});

describe('a tie', () => {
  const two = votesOf(
    { editor: 'ann', text: 'two', at: 1 },
    { editor: 'bob', text: 'one', at: 2 },
    { editor: 'cy', text: 'two', at: 3 },
    { editor: 'dan', text: 'one', at: 4 },
  );

  it('of two texts with two editors each elects the earlier text, and confirms nothing', () => {
    expect(outcomeOf(two)).toMatchObject({ text: 'two', editors: ['ann', 'cy'], certain: false });
  });

  it('of two reviewers is decided by the number of editors', () => {
    const reviewed = two.map((vote, index) => ({ ...vote, reviewed: index > 1 }));
    expect(outcomeOf(reviewed)).toMatchObject({ text: 'two', certain: false });
    const third = voteOf({ editor: 'eve', text: 'one', at: 5 }, 5);
    expect(outcomeOf([...reviewed, third])).toMatchObject({ text: 'one', certain: true });
  });

  it('ends with the vote of a reviewer', () => {
    const review = voteOf({ editor: 'eve', text: 'three', at: 5, reviewed: true }, 5);
    expect(outcomeOf([...two, review])).toMatchObject({ text: 'three', editors: ['eve'], certain: true });
  });
});

describe('a withdrawn vote', () => {
  it('leaves the earlier vote of its editor in another job', () => {
    const votes = votesOf({ text: 'one', at: 1 }, { text: 'two', at: 2 });
    expect(outcomeOf(votes)).toMatchObject({ text: 'two' });
    expect(outcomeOf(votes.slice(0, 1))).toMatchObject({ text: 'one' });
  });

  it('ends the agreement of two editors, and the difference between two places', () => {
    const agreeing = votesOf({ editor: 'ann' }, { editor: 'bob' });
    expect(outcomeOf(agreeing.slice(1))).toMatchObject({ editors: ['bob'], certain: false });
    const split = votesOf(
      { context: 'first', text: 'one' },
      { context: 'later', text: 'two', editor: 'bob' },
    );
    expect(outcomeOf(split, 'first')).toMatchObject({ text: 'one' });
    expect(outcomeOf(split, 'later')).toMatchObject({ text: 'two' });
    expect(outcomeOf(split, 'only')).toBeUndefined();
    for (const context of READING_CONTEXTS) {
      expect(outcomeOf(split.slice(1), context)).toMatchObject({ text: 'two' });
    }
  });
});
