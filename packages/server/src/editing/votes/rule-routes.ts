/**
 * Routes of disagreements and rules, for operators and for the customers of an account:
 * `/api/console/accounts/:username/disagreements…`, `/api/account/disagreements…`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type TObject } from 'typebox';
import { requestedAccount } from '../../access/accounts.ts';
import { accountOf } from '../../access/session-auth.ts';
import type { AccountRef } from '../../base/account.ts';
import { type Checked, resource } from '../../http/http.ts';
import {
  accountParameters,
  described,
  describedOwn,
  ID,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  PAGE,
} from '../../http/schemas.ts';
import type { EditingContext } from '../model/context.ts';
import { READING_CONTEXTS } from './readings.ts';
import { endRule, listDisagreements, makeRule } from './rules.ts';

const Disagreements = Type.Object(
  {
    disagreements: Type.Array(
      Type.Object(
        {
          disagreement: ID,
          context: Type.Enum([...READING_CONTEXTS], {
            description: 'Where the source stands: as the `only` segment of a text, `first`, or `later`.',
          }),
          source_language: Type.String(),
          target_language: Type.String(),
          brand: OPTIONAL_TEXT,
          tone: OPTIONAL_TEXT,
          source: Type.String({ description: 'The text without codes.' }),
          ruled_at: OPTIONAL_MOMENT,
          texts: Type.Array(
            Type.Object({
              vote: ID,
              hash: Type.String({ description: 'A hash of the text; it changes when the text changes.' }),
              target: Type.String({ description: 'The text without codes.' }),
              editors: Type.Integer({ description: 'The number of editors who prefer the text.' }),
              rule: Type.Boolean(),
            }),
            { description: 'The rule, then the texts of most editors; at most 10.' },
          ),
        },
        { title: 'Disagreement' },
      ),
      { description: 'Latest first. A page may have fewer than `limit`, even none.' },
    ),
    next: Type.Union([ID, Type.Null()], { description: 'The `before` of the next page; null on the last.' }),
  },
  { title: 'Disagreements' },
);
const MadeRule = Type.Object(
  { vote: Type.Union([ID, Type.Null()], { description: 'The vote whose text is the rule. Null: none.' }) },
  { title: 'MadeRule' },
);

const querystring = Type.Object({
  before: Type.Optional(Type.String({ format: 'uuid', 'x-fault': 'must be the `next` of a page.' })),
  limit: PAGE,
});
const body = Type.Object({
  vote: ID,
  hash: Type.String({
    description: 'The `hash` of the text in the list. Error `text_changed`: the vote has another text now.',
  }),
  rule: Type.Union([Type.String(), Type.Null()], {
    description:
      'The `hash` of the rule in the list; null if it shows none. Error `rule_changed`: the rule has changed.',
  }),
});
const ended = Type.Object({
  rule: Type.String({
    description: 'The `hash` of the rule in the list. Error `rule_changed`: the rule has changed.',
  }),
});
const LIST = 'List sources for which editors confirmed different texts';
const LIST_ABOUT = 'Only texts of delivered jobs, and all rules.';
const MAKE = 'Make one of the texts the rule';
const MAKE_ABOUT =
  'Waiting segments with the same source, brand, tone and place get the text, and votes do not change it until the ' +
  'rule ends.';
const END = 'End a rule';
const END_ABOUT =
  'Segments that nobody has touched get back what the rule replaced, and the votes count again.';

/** Returns the schemas of the operations. */
function schemasOf(describe: typeof described, whose: 'Account' | 'Own', params: TObject) {
  const one = Type.Object({ ...params.properties, disagreement: ID });
  const more = { params: one } as { params: TObject<{ disagreement: typeof ID }> };
  return {
    list: describe(`list${whose}Disagreements`, LIST, Disagreements, {
      description: LIST_ABOUT,
      params,
      querystring,
    }),
    make: describe(`make${whose}Rule`, MAKE, MadeRule, { description: MAKE_ABOUT, ...more, body }),
    end: describe(`end${whose}Rule`, END, MadeRule, {
      description: END_ABOUT,
      ...more,
      querystring: ended,
    }),
  };
}

export function ruleRoutes(app: FastifyInstance, getContext: () => EditingContext): void {
  const schemas = schemasOf(described, 'Account', accountParameters);
  addRoutes(app, getContext, '/api/console/accounts/:username/disagreements', schemas, async (request) => {
    const named = request as Checked<{ params: typeof accountParameters }>;
    return (await requestedAccount(getContext().database, named)).ref;
  });
}

export function rulesOfCustomer(app: FastifyInstance, getContext: () => EditingContext): void {
  const schemas = schemasOf(describedOwn, 'Own', Type.Object({}));
  addRoutes(
    app,
    getContext,
    '/api/account/disagreements',
    schemas,
    async (request) => accountOf(request).ref,
  );
}

function addRoutes(
  app: FastifyInstance,
  getContext: () => EditingContext,
  path: string,
  schemas: ReturnType<typeof schemasOf>,
  accountIn: (request: FastifyRequest) => Promise<AccountRef>,
): void {
  resource(app, path, {
    GET: {
      schema: schemas.list,
      emptyIsAbsent: true,
      handler: async (request) =>
        listDisagreements(getContext().database, await accountIn(request), request.query),
    },
  });
  resource(app, `${path}/:disagreement/rule`, {
    PUT: {
      schema: schemas.make,
      async handler(request) {
        const { database, wakePropagation } = getContext();
        const account = await accountIn(request);
        await makeRule(database, request.person, account, request.params.disagreement, request.body);
        wakePropagation();
        return { vote: request.body.vote };
      },
    },
    DELETE: {
      schema: schemas.end,
      async handler(request) {
        const { database, wakePropagation } = getContext();
        const account = await accountIn(request);
        await endRule(database, request.person, account, request.params.disagreement, request.query.rule);
        wakePropagation();
        return { vote: null };
      },
    },
  });
}
