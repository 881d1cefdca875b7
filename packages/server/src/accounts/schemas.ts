/** Schemas of the calling account. */
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { answer, errorResponses } from '../http/schemas.ts';

export const CallingAccount = Type.Object(
  {
    username: Type.String({ examples: ['acme'] }),
    email: Type.String({
      description: 'The e-mail address; empty if the account has none.',
      examples: ['acme@example.com'],
    }),
    balance: Type.Integer({
      description: 'The balance in this environment, in cents, without the credit limit.',
      examples: [9988],
    }),
  },
  { title: 'Account' },
);

export const getAccountSchema: FastifySchema = {
  operationId: 'getAccount',
  summary: 'Read the calling account',
  description: 'A list with one entry.',
  tags: ['Account'],
  response: {
    200: answer(
      'The account.',
      Type.Object(
        { objects: Type.Array(Type.Object({ account: CallingAccount })) },
        { title: 'AccountList' },
      ),
      { objects: [{ account: { username: 'acme', email: 'acme@example.com', balance: 9988 } }] },
    ),
    ...errorResponses(),
  },
};
