/** A customer's word on a finished job, in the web app: `/api/account/jobs/:uid/accept` and `/reject`. */
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import Type, { type TObject } from 'typebox';
import type { Caller } from '../account.ts';
import { accountOf, type DoorOptions, requirePerson } from '../accounts/door.ts';
import { fieldError, notFound, reason } from '../errors.ts';
import { resource } from '../http.ts';
import { answer } from '../schemas.ts';
import { isUid } from './request.ts';
import { RejectRequest } from './schemas.ts';
import { STATUSES } from './states.ts';
import { acceptJob, type Reopen, readReason, rejectJob, statusOf } from './verdict.ts';

const ENVIRONMENT = Type.Enum(['production', 'sandbox'], { default: 'production' });
const Judged = Type.Object(
  { uid: Type.String(), environment: ENVIRONMENT, status: Type.Enum([...STATUSES]) },
  { title: 'JudgedJob' },
);
const open = { additionalProperties: true } as const;

function described(operationId: string, summary: string, body: TObject): FastifySchema {
  const params = Type.Object({ uid: Type.String() });
  return {
    operationId,
    summary,
    tags: ['Account'],
    params,
    body,
    response: { 200: answer(summary, Judged) },
  };
}

const schemas = {
  accept: described(
    'acceptMyJob',
    'Accept a completed job',
    Type.Object({ environment: Type.Optional(ENVIRONMENT) }, open),
  ),
  reject: described(
    'rejectMyJob',
    'Send a completed job back to its editors',
    Type.Object({ ...RejectRequest.properties, environment: Type.Optional(ENVIRONMENT) }, open),
  ),
};

export function verdictRoutes(app: FastifyInstance, options: DoorOptions & { reopen: Reopen }): void {
  const { database, reopen } = options;
  void app.register(async (own) => {
    requirePerson(own, options, 'customer');
    resource(own, '/api/account/jobs/:uid/accept', {
      POST: {
        schema: schemas.accept,
        async handler(request) {
          const { who, uid } = requested(request);
          await acceptJob(database, who, uid);
          return present(who, uid);
        },
      },
    });
    resource(own, '/api/account/jobs/:uid/reject', {
      POST: {
        schema: schemas.reject,
        async handler(request) {
          const { who, uid } = requested(request);
          const by = { reason: readReason(request.body), userId: request.person.userId };
          await rejectJob(database, reopen, who, uid, by);
          return present(who, uid);
        },
      },
    });
  });

  async function present(who: Pick<Caller, 'account' | 'environment'>, uid: string) {
    const status = await statusOf(database, who, uid);
    return { uid, environment: who.environment, status };
  }
}

function requested(request: FastifyRequest): { who: Pick<Caller, 'account' | 'environment'>; uid: string } {
  const { uid } = request.params as { uid: string };
  if (!isUid(uid)) throw notFound();
  const given = (request.body as { environment?: unknown } | null | undefined)?.environment ?? 'production';
  if (given !== 'production' && given !== 'sandbox') {
    throw fieldError('environment', reason('one_of', { accepted: 'production, sandbox' }));
  }
  return { who: { account: accountOf(request).ref, environment: given }, uid };
}
