/** Routes of votes for operators: `/api/console/accounts/:username/votes…`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { requestedAccount } from '../access/accounts.ts';
import { notFound } from '../base/errors.ts';
import { resource } from '../http/http.ts';
import { accountParameters, described, ID, MOMENT, OPTIONAL_MOMENT, PAGE } from '../http/schemas.ts';
import type { EditingContext } from './context.ts';
import { POSITION } from './schemas.ts';
import { findVotes, KEPT_REASONS, undoVote } from './undo-votes.ts';

const Votes = Type.Object(
  {
    votes: Type.Array(
      Type.Object({
        vote: ID,
        uid: Type.String({ description: 'The job in which the text was confirmed.' }),
        source_language: Type.String(),
        target_language: Type.String(),
        source: Type.String({ description: 'The text without codes.' }),
        target: Type.String({ description: 'The text without codes.' }),
        editor: Type.String(),
        voted_at: MOMENT,
        withdrawn_at: OPTIONAL_MOMENT,
        segments: Type.Integer({ description: 'The number of segments that hold the text because of it.' }),
      }),
      { description: 'Latest first.' },
    ),
  },
  { title: 'Votes' },
);
const UndoneVote = Type.Object(
  {
    restored: Type.Integer({ description: 'The number of segments that have their former draft again.' }),
    kept: Type.Array(
      Type.Object({
        uid: Type.String(),
        position: POSITION,
        why: Type.Enum([...KEPT_REASONS], {
          description:
            '`edited`: an editor has worked on the segment. `held`: its task is claimed, submitted or reviewed; it gets ' +
            'its former draft if the claim ends without an edit. `delivered`: its job is delivered.',
        }),
      }),
      { description: 'The segments that keep the text, at most 1,000.' },
    ),
  },
  { title: 'UndoneVote' },
);

const schemas = {
  list: described('listAccountVotes', 'List confirmed texts and where they were used', Votes, {
    params: accountParameters,
    querystring: Type.Object({
      filling: Type.Boolean({
        default: true,
        description: 'Only votes whose text other segments hold.',
      }),
      limit: PAGE,
    }),
  }),
  undo: described('undoAccountVote', 'Take back a vote and what it filled', UndoneVote, {
    description:
      'Withdraws the vote and the votes of other editors for the same text. Segments that nobody has touched get ' +
      'their former drafts again.',
    params: Type.Object({ ...accountParameters.properties, vote: ID }),
  }),
};

export function voteRoutes(app: FastifyInstance, getContext: () => EditingContext): void {
  const path = '/api/console/accounts/:username/votes';
  resource(app, path, {
    GET: {
      schema: schemas.list,
      emptyIsAbsent: true,
      async handler(request) {
        const { database } = getContext();
        const { ref } = await requestedAccount(database, request);
        return { votes: await findVotes(database, ref, request.query) };
      },
    },
  });
  resource(app, `${path}/:vote/undo`, {
    POST: {
      schema: schemas.undo,
      async handler(request) {
        const { database } = getContext();
        const { ref } = await requestedAccount(database, request);
        const undone = await undoVote(database, request.person, ref, request.params.vote);
        if (undone === undefined) throw notFound();
        getContext().wakePropagation();
        return undone;
      },
    },
  });
}
