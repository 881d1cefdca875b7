/**
 * The operations with which customers accept and reject completed jobs in the web app: `/api/account/jobs/:uid/accept`
 * and `/reject`.
 */
import type { FastifyInstance } from 'fastify';
import Type, { type TObject } from 'typebox';
import { type Audience, type Subject, share } from '../access/audiences.ts';
import type { Database } from '../database/database.ts';
import { describing, ENVIRONMENT, IN_ENVIRONMENT } from '../http/schemas.ts';
import { acceptJob, type Reopen, readJobStatus, rejectJob } from './acceptance.ts';
import { jobParameters, RejectRequest } from './schemas.ts';
import { JOB_STATUSES } from './states.ts';

const Judged = Type.Object(
  { uid: Type.String(), environment: ENVIRONMENT, status: Type.Enum([...JOB_STATUSES]) },
  { title: 'JudgedJob' },
);
const AcceptBody = Type.Object({ environment: IN_ENVIRONMENT });
const described = <Body extends TObject>(operationId: string, summary: string, body: Body) =>
  describing('Jobs')(operationId, summary, Judged, { params: jobParameters, body });
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
  { database, reopen }: { database: Database; reopen: Reopen },
  audience: Audience,
): void {
  const whose = ({ account, environment }: Subject) => ({ account, environment: environment! });
  async function present(subject: Subject, uid: string) {
    const status = await readJobStatus(database, whose(subject), uid);
    return { uid, environment: subject.environment, status };
  }

  share(app, database, audience, '/jobs/:uid/accept', {
    POST: {
      who: { customer: true },
      schema: schemas.accept,
      async handler({ params: { uid } }, subject) {
        await acceptJob(database, whose(subject), uid);
        return present(subject, uid);
      },
    },
  });
  share(app, database, audience, '/jobs/:uid/reject', {
    POST: {
      who: { customer: true },
      schema: schemas.reject,
      async handler({ person, params: { uid }, body: { reason } }, subject) {
        const by = { reason, userId: person.userId };
        await rejectJob(database, reopen, whose(subject), uid, by);
        return present(subject, uid);
      },
    },
  });
}
