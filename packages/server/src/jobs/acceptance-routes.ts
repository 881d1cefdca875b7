/**
 * Routes for accepting and rejecting completed jobs in the web app: `/api/account/jobs/:uid/accept` and
 * `/reject`.
 */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type, { type TObject } from 'typebox';
import { accountOf, requirePerson, type SessionAuthOptions } from '../access/session-auth.ts';
import type { Caller } from '../base/account.ts';
import { type Checked, resource } from '../http/http.ts';
import { answer, ENVIRONMENT, IN_ENVIRONMENT } from '../http/schemas.ts';
import { acceptJob, type Reopen, readJobStatus, rejectJob } from './acceptance.ts';
import { jobParameters, RejectRequest } from './schemas.ts';
import { JOB_STATUSES } from './states.ts';

const Judged = Type.Object(
  { uid: Type.String(), environment: ENVIRONMENT, status: Type.Enum([...JOB_STATUSES]) },
  { title: 'JudgedJob' },
);
const AcceptBody = Type.Object({ environment: IN_ENVIRONMENT });

function described<Body extends TObject>(operationId: string, summary: string, body: Body) {
  return {
    operationId,
    summary,
    tags: ['Account'],
    params: jobParameters,
    body,
    response: { 200: answer(summary, Judged) },
  } satisfies FastifySchema;
}

const schemas = {
  accept: described('acceptMyJob', 'Accept a completed job', AcceptBody),
  reject: described(
    'rejectMyJob',
    'Send a completed job back to its editors',
    Type.Object({ ...RejectRequest.properties, ...AcceptBody.properties }),
  ),
};

export function acceptanceRoutes(
  app: FastifyInstance,
  options: SessionAuthOptions & { reopen: Reopen },
): void {
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
          const by = { reason: request.body.reason, userId: request.person.userId };
          await rejectJob(database, reopen, who, uid, by);
          return present(who, uid);
        },
      },
    });
  });

  async function present(who: Pick<Caller, 'account' | 'environment'>, uid: string) {
    const status = await readJobStatus(database, who, uid);
    return { uid, environment: who.environment, status };
  }
}

function requested(request: Checked<(typeof schemas)['accept']>) {
  const { environment } = request.body;
  return { who: { account: accountOf(request).ref, environment }, uid: request.params.uid };
}
