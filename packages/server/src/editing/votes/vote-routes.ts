/**
 * Routes of votes, for operators and for the customers of an account: `/api/console/accounts/:username/votes…`,
 * `/api/account/votes…`. Customers do not see the names of editors.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { requestedAccount } from '../../access/accounts.ts';
import { accountOf } from '../../access/session-auth.ts';
import type { Actor } from '../../audit/audit.ts';
import type { AccountRef } from '../../base/account.ts';
import { notFound } from '../../base/errors.ts';
import { resource } from '../../http/http.ts';
import {
  accountParameters,
  described,
  describedOwn,
  ID,
  MOMENT,
  OPTIONAL_MOMENT,
  PAGE,
} from '../../http/schemas.ts';
import { WITH_RESULT } from '../../jobs/jobs.ts';
import type { EditingContext } from '../model/context.ts';
import { POSITION } from '../schemas/schemas.ts';
import { findVotes, KEPT_REASONS, type UndoneVote as Undone, undoVote } from './undo-votes.ts';

const vote = {
  vote: ID,
  uid: Type.String({ description: 'The job in which the text was confirmed.' }),
  source_language: Type.String(),
  target_language: Type.String(),
  source: Type.String({ description: 'The text without codes.' }),
  target: Type.String({ description: 'The text without codes.' }),
  voted_at: MOMENT,
  withdrawn_at: OPTIONAL_MOMENT,
  segments: Type.Integer({
    description: 'The number of segments of other jobs that hold the text because of it.',
  }),
};
const LATEST_FIRST = { description: 'Latest first.' };
const OwnVotes = Type.Object(
  { votes: Type.Array(Type.Object(vote, { title: 'OwnVote' }), LATEST_FIRST) },
  { title: 'OwnVotes' },
);
const Votes = Type.Object(
  { votes: Type.Array(Type.Object({ ...vote, editor: Type.String() }), LATEST_FIRST) },
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

const listed = Type.Object({
  filling: Type.Boolean({ default: true, description: 'Only votes whose text segments of other jobs hold.' }),
  limit: PAGE,
});
const LIST = 'List confirmed texts and where they were used';
const UNDO = 'Withdraw a vote and what it filled';
const UNDO_ABOUT =
  'Withdraws the vote and the votes of other editors for the same text. Segments that nobody has touched get ' +
  'their former drafts again.';
const schemas = {
  list: described('listAccountVotes', LIST, Votes, { params: accountParameters, querystring: listed }),
  undo: described('undoAccountVote', UNDO, UndoneVote, {
    description: UNDO_ABOUT,
    params: Type.Object({ ...accountParameters.properties, vote: ID }),
  }),
  listOwn: describedOwn('listOwnVotes', LIST, OwnVotes, {
    description: 'Only texts of jobs whose translation is delivered.',
    querystring: listed,
  }),
  undoOwn: describedOwn('undoOwnVote', UNDO, UndoneVote, {
    description: UNDO_ABOUT,
    params: Type.Object({ vote: ID }),
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
        const { ref } = await requestedAccount(getContext().database, request);
        return undo(getContext(), request.person, ref, request.params.vote);
      },
    },
  });
}

export function votesOfCustomer(app: FastifyInstance, getContext: () => EditingContext): void {
  resource(app, '/api/account/votes', {
    GET: {
      schema: schemas.listOwn,
      emptyIsAbsent: true,
      async handler(request) {
        // Lists only votes of jobs with a result. Otherwise customers could read the texts of an unfinished job
        // and then cancel it without paying.
        const search = { ...request.query, statuses: WITH_RESULT };
        const votes = await findVotes(getContext().database, accountOf(request).ref, search);
        return { votes: votes.map(({ editor: _, ...one }) => one) };
      },
    },
  });
  resource(app, '/api/account/votes/:vote/undo', {
    POST: {
      schema: schemas.undoOwn,
      handler: (request) => undo(getContext(), request.person, accountOf(request).ref, request.params.vote),
    },
  });
}

/** @throws ApiError `not_found` if the account has no such vote */
async function undo(
  context: EditingContext,
  by: Actor,
  account: AccountRef,
  voteId: string,
): Promise<Undone> {
  const undone = await undoVote(context.database, by, account, voteId);
  if (undone === undefined) throw notFound();
  context.wakePropagation();
  return undone;
}
