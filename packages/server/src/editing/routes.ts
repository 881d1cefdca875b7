/** Routes of editing: `/api/editing/…` for editors and operators, `/api/console/…` for operators. */
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { requirePerson, type SessionAuthOptions } from '../access/session-auth.ts';
import { fieldError } from '../base/errors.ts';
import { type Checked, type Operation, resource } from '../http/http.ts';
import type { TaskKey } from './model/access-store.ts';
import type { EditingContext, EditingUser } from './model/context.ts';
import type { TaskStatus } from './model/states.ts';
import { askCustomer, withdrawQuery } from './review/queries.ts';
import { approve, markIssue, markSeen, markUnsure, returnJob, submit, unmarkIssue } from './review/review.ts';
import { consoleTaskSchemas } from './schemas/console-schemas.ts';
import { editorSchemas, WRONG_RANGE } from './schemas/route-schemas.ts';
import type { taskParameters } from './schemas/schemas.ts';
import { joinWithNext, separateSegments } from './segments/joins.ts';
import { saveSegment } from './segments/save.ts';
import { splitSegment, unsplitSegment } from './segments/splits.ts';
import { findInconsistencies, searchTaskMemory, suggest } from './segments/suggest.ts';
import { proposeTaskTerm, withdrawTaskTerm } from './segments/term-proposals.ts';
import { addComment, preview, readClaimed, readSegmentHistory, readTask } from './segments/view.ts';
import { claim, heartbeat, locate, readQueue, release, report, skip } from './tasks/claims.ts';
import { freeTask, listTasks, prioritiseTask, readEffort, readWork, reassignTask } from './tasks/console.ts';
import { ruleRoutes, rulesOfCustomer } from './votes/rule-routes.ts';
import { voteRoutes, votesOfCustomer } from './votes/vote-routes.ts';

/**
 * The body limit in bytes. It is enough for a target of 100,000 characters in JSON and the other fields of
 * the request.
 */
const BODY = { bodyLimit: 1024 * 1024 };
const TASK_PATH = '/api/editing/tasks/:task';

export interface EditingRouteOptions extends Pick<SessionAuthOptions, 'database' | 'settings'> {
  editing: { context: EditingContext };
}

type GetContext = () => EditingContext;

export function editingRoutes(app: FastifyInstance, options: EditingRouteOptions): void {
  const context = () => options.editing.context;
  void app.register(async (editors) => {
    requirePerson(editors, options, 'editor', 'operator');
    queueRoutes(editors, context);
    segmentRoutes(editors, context);
    termRoutes(editors, context);
    queryRoutes(editors, context);
    claimRoutes(editors, context);
    reviewRoutes(editors, context);
  });
  void app.register(async (operators) => {
    requirePerson(operators, options, 'operator');
    consoleRoutes(operators, context);
    voteRoutes(operators, context);
    ruleRoutes(operators, context);
  });
  void app.register(async (customers) => {
    requirePerson(customers, options, 'customer');
    votesOfCustomer(customers, context);
    rulesOfCustomer(customers, context);
  });
}

function queueRoutes(app: FastifyInstance, getContext: GetContext): void {
  resource(app, '/api/editing/queue', {
    GET: {
      schema: editorSchemas.queue,
      handler: (request) => readQueue(getContext(), userOf(request), request.query),
    },
  });
  resource(app, '/api/editing/work', {
    GET: { schema: editorSchemas.work, handler: (request) => readWork(getContext(), userOf(request).userId) },
  });
  resource(app, '/api/editing/claims', {
    POST: {
      schema: editorSchemas.claim,
      ...BODY,
      async handler(request, reply) {
        const key = await claim(getContext(), userOf(request), request.body.task);
        return reply.code(201).send(await readClaimed(getContext(), userOf(request), key));
      },
    },
  });
}

function segmentRoutes(app: FastifyInstance, getContext: GetContext): void {
  const path = `${TASK_PATH}/segments/:position`;
  resource(app, path, {
    PUT: {
      ...BODY,
      ...onTask(getContext, editorSchemas.save, ({ context, user, key }, { params, body }) =>
        saveSegment(context, user, key, params.position, body),
      ),
    },
  });
  resource(app, `${path}/unsure`, {
    PUT: {
      ...BODY,
      ...onTask(getContext, editorSchemas.unsure, ({ context, user, key }, { params, body }) =>
        markUnsure(context, user, key, body.token, { position: params.position, unsure: body.unsure }),
      ),
    },
  });
  resource(app, `${path}/join`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.join, ({ context, user, key }, { params, body }) =>
        joinWithNext(context, user, key, params.position, body),
      ),
    },
  });
  resource(app, `${path}/separate`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.separate, ({ context, user, key }, { params, body }) =>
        separateSegments(context, user, key, params.position, body),
      ),
    },
  });
  resource(app, `${path}/split`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.split, ({ context, user, key }, { params, body }) =>
        splitSegment(context, user, key, params.position, body),
      ),
    },
  });
  resource(app, `${path}/unsplit`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.unsplit, ({ context, user, key }, { params, body }) =>
        unsplitSegment(context, user, key, params.position, body),
      ),
    },
  });
  resource(app, `${path}/matches`, {
    GET: onTask(getContext, editorSchemas.matches, ({ context, user, key }, { params }) =>
      suggest(context, user, key, params.position),
    ),
  });
  resource(app, `${path}/history`, {
    GET: onTask(getContext, editorSchemas.history, ({ context, user, key }, { params }) =>
      readSegmentHistory(context, user, key, params.position),
    ),
  });
}

function termRoutes(app: FastifyInstance, getContext: GetContext): void {
  resource(app, `${TASK_PATH}/terms`, {
    POST: {
      ...BODY,
      ...onTask(
        getContext,
        editorSchemas.proposeTerm,
        ({ context, user, key }, { body }) => proposeTaskTerm(context, user, key, body),
        201,
      ),
    },
  });
  resource(app, `${TASK_PATH}/terms/:proposal`, {
    DELETE: {
      ...BODY,
      ...onTask(getContext, editorSchemas.withdrawTerm, async ({ context, user, key }, { body, params }) => {
        await withdrawTaskTerm(context, user, key, body.token, params.proposal);
        return { task: key.taskId, status: 'claimed' };
      }),
    },
  });
}

function queryRoutes(app: FastifyInstance, getContext: GetContext): void {
  resource(app, `${TASK_PATH}/queries`, {
    POST: {
      ...BODY,
      ...onTask(
        getContext,
        editorSchemas.ask,
        ({ context, user, key }, { body: { token, ...asked } }) =>
          askCustomer(context, user, key, token, asked),
        201,
      ),
    },
  });
  resource(app, `${TASK_PATH}/queries/:query`, {
    DELETE: {
      ...BODY,
      ...onTask(getContext, editorSchemas.withdrawQuery, async ({ context, user, key }, { body, params }) => {
        await withdrawQuery(context, user, key, body.token, params.query);
        return { task: key.taskId, status: 'claimed' };
      }),
    },
  });
}

function claimRoutes(app: FastifyInstance, getContext: GetContext): void {
  resource(app, TASK_PATH, {
    GET: onTask(getContext, editorSchemas.task, ({ context, user, key }) => readTask(context, user, key)),
  });
  resource(app, `${TASK_PATH}/concordance`, {
    GET: onTask(getContext, editorSchemas.concordance, ({ context, user, key }, { query }) =>
      searchTaskMemory(context, user, key, query.q),
    ),
  });
  resource(app, `${TASK_PATH}/inconsistencies`, {
    GET: onTask(getContext, editorSchemas.inconsistencies, ({ context, user, key }) =>
      findInconsistencies(context, user, key),
    ),
  });
  resource(app, `${TASK_PATH}/preview`, {
    GET: onTask(getContext, editorSchemas.preview, ({ context, user, key }) => preview(context, user, key)),
  });
  resource(app, `${TASK_PATH}/heartbeat`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.heartbeat, ({ context, user, key }, { body }) =>
        heartbeat(context, user, key, body.token),
      ),
    },
  });
  move(app, getContext, `${TASK_PATH}/release`, editorSchemas.release, ({ context, user, key }, { body }) =>
    release(context, user, key, body.token),
  );
  move(app, getContext, `${TASK_PATH}/submit`, editorSchemas.submit, ({ context, user, key }, { body }) =>
    submit(context, user, key, body.token),
  );
  move(app, getContext, `${TASK_PATH}/skip`, editorSchemas.skip, ({ context, user, key }, { body }) =>
    skip(context, user, key, body.token, body.reason),
  );
  move(app, getContext, `${TASK_PATH}/report`, editorSchemas.report, ({ context, user, key }, { body }) =>
    report(context, user, key, body.token, body),
  );
}

function reviewRoutes(app: FastifyInstance, getContext: GetContext): void {
  move(app, getContext, `${TASK_PATH}/approve`, editorSchemas.approve, ({ context, user, key }, { body }) =>
    approve(context, user, key, body.token),
  );
  move(app, getContext, `${TASK_PATH}/return`, editorSchemas.return, ({ context, user, key }, { body }) =>
    returnJob(context, user, key, body.token, body.note),
  );
  resource(app, `${TASK_PATH}/seen`, {
    POST: {
      ...BODY,
      ...onTask(getContext, editorSchemas.see, async ({ context, user, key }, { body }) => ({
        positions: await markSeen(context, user, key, body.token, body.segments),
      })),
    },
  });
  resource(app, `${TASK_PATH}/issues`, {
    POST: {
      ...BODY,
      ...onTask(
        getContext,
        editorSchemas.addIssue,
        ({ context, user, key }, { body: { token, ...issue } }) => {
          if (issue.range !== undefined && issue.range.start > issue.range.end) {
            throw fieldError('range', WRONG_RANGE);
          }
          return markIssue(context, user, key, token, issue);
        },
        201,
      ),
    },
  });
  resource(app, `${TASK_PATH}/issues/:issue`, {
    DELETE: {
      ...BODY,
      ...onTask(getContext, editorSchemas.removeIssue, async ({ context, user, key }, { body, params }) => {
        await unmarkIssue(context, user, key, body.token, params.issue);
        return { task: key.taskId, status: 'claimed' };
      }),
    },
  });
  resource(app, `${TASK_PATH}/comments`, {
    POST: {
      ...BODY,
      ...onTask(
        getContext,
        editorSchemas.addComment,
        ({ context, user, key }, { body }) => addComment(context, user, key, body),
        201,
      ),
    },
  });
}

function consoleRoutes(app: FastifyInstance, getContext: GetContext): void {
  resource(app, '/api/console/tasks', {
    GET: {
      schema: consoleTaskSchemas.list,
      handler: (request) => listTasks(getContext(), request.query),
    },
  });
  resource(app, '/api/console/effort', {
    GET: {
      schema: consoleTaskSchemas.effort,
      async handler(request) {
        const { by, since } = request.query;
        return readEffort(getContext(), by, since === undefined ? undefined : new Date(since));
      },
    },
  });
  const path = '/api/console/tasks/:task';
  move(app, getContext, `${path}/release`, consoleTaskSchemas.release, ({ context, key }, { person }) =>
    freeTask(context, person, key),
  );
  move(
    app,
    getContext,
    `${path}/priority`,
    consoleTaskSchemas.priority,
    ({ context, key }, { person, body }) => prioritiseTask(context, person, key, body.priority),
  );
  move(
    app,
    getContext,
    `${path}/reassign`,
    consoleTaskSchemas.reassign,
    ({ context, key }, { person, body }) => reassignTask(context, person, key, body.user),
  );
}

type TaskSchema = FastifySchema & { params: typeof taskParameters };

/** The context, user and task of a request. */
interface TaskRequest {
  context: EditingContext;
  user: EditingUser;
  key: TaskKey;
}

/** Returns the operation of a route whose path names a task. @throws ApiError `not_found` */
function onTask<S extends TaskSchema>(
  getContext: GetContext,
  schema: S,
  act: (task: TaskRequest, request: Checked<S>) => Promise<unknown>,
  status = 200,
): Operation {
  const operation: Operation<S> = {
    schema,
    async handler(request, reply) {
      const context = getContext();
      const { params } = request as Checked<{ params: typeof taskParameters }>;
      const key = await locate(context, params.task);
      reply.code(status);
      return act({ context, user: userOf(request), key }, request);
    },
  };
  return operation as Operation;
}

/** Adds a route that changes the state of a task and answers with the new state. */
function move<S extends TaskSchema>(
  app: FastifyInstance,
  getContext: GetContext,
  path: string,
  schema: S,
  act: (task: TaskRequest, request: Checked<S>) => Promise<TaskStatus>,
): void {
  const operation = onTask(getContext, schema, async (task, request) => ({
    task: task.key.taskId,
    status: await act(task, request),
  }));
  resource(app, path, { POST: { ...BODY, ...operation } });
}

function userOf({ person }: FastifyRequest): EditingUser {
  return { userId: person.userId, role: person.role, name: person.name };
}
