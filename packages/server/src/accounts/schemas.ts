/** The calling account, described. */
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { answer, errorResponses } from '../schemas.ts';

export const Account = Type.Object(
  {
    username: Type.String({ examples: ['acme'] }),
    email: Type.String({ description: 'Empty where none is known.', examples: ['acme@example.com'] }),
    balance: Type.Integer({
      description: 'What the account can spend in this environment, in cents, before its credit.',
      examples: [9988],
    }),
  },
  { title: 'Account' },
);

export const getAccountSchema: FastifySchema = {
  operationId: 'getAccount',
  summary: 'Read the account that is calling',
  description: 'A list of one.',
  tags: ['Account'],
  response: {
    200: answer(
      'The account.',
      Type.Object({ objects: Type.Array(Type.Object({ account: Account })) }, { title: 'AccountList' }),
      { objects: [{ account: { username: 'acme', email: 'acme@example.com', balance: 9988 } }] },
    ),
    ...errorResponses(),
  },
};
