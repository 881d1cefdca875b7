/** The operations of the terms that editors propose: customers decide on them. */
import type { FastifyInstance } from 'fastify';
import { type Audience, share } from '../access/audiences.ts';
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import type { Answer } from '../http/answers.ts';
import { MAX_LISTED, type OwnProposals, brandSchemas as schemas } from './brand-schemas.ts';
import { foundBrand, requireBrand } from './brands.ts';
import { findWaitingProposals } from './proposal-store.ts';
import { decideOnTerm } from './proposals.ts';

export function proposalRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
  audience: Audience,
): void {
  const who = { customer: true } as const;
  share(app, database, audience, '/brands/:brand/proposals', {
    GET: {
      who,
      schema: schemas.proposals,
      handler: ({ params }, { account }) => listProposals(database, account, params.brand),
    },
  });
  for (const [path, schema, decision] of [
    ['take', schemas.take, 'taken'],
    ['decline', schemas.decline, 'declined'],
  ] as const) {
    share(app, database, audience, `/proposals/:proposal/${path}`, {
      POST: {
        who,
        schema,
        async handler({ person, params }, { account }) {
          const brand = await decideOnTerm(database, account, person, params.proposal, decision);
          return listProposals(database, account, brand);
        },
      },
    });
  }
}

/** @throws ApiError `not_found` if the account has no such brand */
async function listProposals(
  database: Database,
  account: AccountRef,
  externalId: string,
): Promise<Answer<typeof OwnProposals>> {
  await foundBrand(requireBrand(database, account, externalId));
  return { objects: await findWaitingProposals(database, { account, externalId, limit: MAX_LISTED }) };
}
