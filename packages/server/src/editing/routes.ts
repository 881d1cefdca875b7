/** Editing for the web app: `/api/editing/…` for editors and operators, `/api/console/…` for operators. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DoorOptions, requirePerson } from '../accounts/door.ts';
import { fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import type { Actor } from '../operations/audit.ts';
import { claim, extend, heartbeat, locate, readQueue, release, report, skip } from './claims.ts';
import { freeTask, listTasks, readEffort, readWork, reassignTask, setPriority } from './console.ts';
import * as read from './request.ts';
import { approve, markIssue, sendBack, submit, unmarkIssue } from './review.ts';
import type { Asker, EditingRoom } from './room.ts';
import { saveSegment } from './save.ts';
import { schemas } from './schemas.ts';
import { TASK_STATUSES, type TaskStatus } from './states.ts';
import { searchMemory, suggest } from './suggest.ts';
import { addComment, preview, readClaimed, readComments, readHistory, readTask } from './view.ts';

/** A target of 100,000 characters as JSON, and what is round it. */
const BODY = { bodyLimit: 1024 * 1024 };

export interface EditingRouteOptions extends Pick<DoorOptions, 'database' | 'settings'> {
  editing: { room: EditingRoom };
}

export function editingRoutes(app: FastifyInstance, options: EditingRouteOptions): void {
  const room = () => options.editing.room;
  void app.register(async (editors) => {
    requirePerson(editors, options, 'editor', 'operator');
    editorRoutes(editors, room);
  });
  void app.register(async (operators) => {
    requirePerson(operators, options, 'operator');
    consoleRoutes(operators, room);
  });
}

function editorRoutes(app: FastifyInstance, room: () => EditingRoom): void {
  resource(app, '/api/editing/queue', {
    GET: { schema: schemas.queue, handler: (request) => readQueue(room(), askerOf(request)) },
  });
  resource(app, '/api/editing/work', {
    GET: { schema: schemas.work, handler: (request) => readWork(room(), askerOf(request).userId) },
  });
  resource(app, '/api/editing/claims', {
    POST: {
      schema: schemas.claim,
      ...BODY,
      async handler(request, reply) {
        const key = await claim(room(), askerOf(request), read.readClaim(request.body));
        return reply.code(201).send(await readClaimed(room(), askerOf(request), key));
      },
    },
  });
  const path = '/api/editing/tasks/:task';
  resource(app, path, {
    GET: {
      schema: schemas.task,
      handler: async (request) => readTask(room(), askerOf(request), await taskOf(room(), request)),
    },
  });
  resource(app, `${path}/segments/:position`, {
    PUT: {
      schema: schemas.save,
      ...BODY,
      async handler(request) {
        const key = await taskOf(room(), request);
        return saveSegment(room(), askerOf(request), key, positionOf(request), read.readSave(request.body));
      },
    },
  });
  resource(app, `${path}/segments/:position/matches`, {
    GET: {
      schema: schemas.matches,
      handler: async (request) =>
        suggest(room(), askerOf(request), await taskOf(room(), request), positionOf(request)),
    },
  });
  resource(app, `${path}/segments/:position/history`, {
    GET: {
      schema: schemas.history,
      handler: async (request) =>
        readHistory(room(), askerOf(request), await taskOf(room(), request), positionOf(request)),
    },
  });
  resource(app, `${path}/concordance`, {
    GET: {
      schema: schemas.concordance,
      async handler(request) {
        const { q } = request.query as { q?: unknown };
        if (typeof q !== 'string' || q.trim() === '') throw fieldError('q', 'This field is required.');
        return searchMemory(room(), askerOf(request), await taskOf(room(), request), q);
      },
    },
  });
  resource(app, `${path}/preview`, {
    GET: {
      schema: schemas.preview,
      handler: async (request) => preview(room(), askerOf(request), await taskOf(room(), request)),
    },
  });
  for (const [name, act] of [
    ['heartbeat', heartbeat],
    ['extend', extend],
  ] as const) {
    resource(app, `${path}/${name}`, {
      POST: {
        schema: schemas[name],
        ...BODY,
        async handler(request) {
          const key = await taskOf(room(), request);
          return act(room(), askerOf(request), key, read.readToken(request.body));
        },
      },
    });
  }
  const moves = {
    release: (asker, key, body) => release(room(), asker, key, read.readToken(body)),
    submit: (asker, key, body) => submit(room(), asker, key, read.readToken(body)),
    approve: (asker, key, body) => approve(room(), asker, key, read.readToken(body)),
    skip(asker, key, body) {
      const { token, reason } = read.readSkip(body);
      return skip(room(), asker, key, token, reason);
    },
    report(asker, key, body) {
      const { token, ...why } = read.readReport(body);
      return report(room(), asker, key, token, why);
    },
    return(asker, key, body) {
      const { token, note } = read.readReturn(body);
      return sendBack(room(), asker, key, token, note);
    },
  } satisfies Record<string, (asker: Asker, key: Key, body: unknown) => Promise<TaskStatus>>;
  for (const [name, move] of Object.entries(moves)) {
    resource(app, `${path}/${name}`, {
      POST: {
        schema: schemas[name as keyof typeof moves],
        ...BODY,
        async handler(request) {
          const key = await taskOf(room(), request);
          const status = await move(askerOf(request), key, request.body);
          return { task: key.taskId, status };
        },
      },
    });
  }
  resource(app, `${path}/issues`, {
    POST: {
      schema: schemas.addIssue,
      ...BODY,
      async handler(request, reply) {
        const key = await taskOf(room(), request);
        const { token, issue } = read.readIssue(request.body);
        return reply.code(201).send(await markIssue(room(), askerOf(request), key, token, issue));
      },
    },
  });
  resource(app, `${path}/issues/:issue`, {
    DELETE: {
      schema: schemas.removeIssue,
      ...BODY,
      async handler(request) {
        const key = await taskOf(room(), request);
        const { issue } = request.params as { issue: string };
        if (!/^[0-9a-f-]{36}$/i.test(issue)) throw notFound();
        await unmarkIssue(room(), askerOf(request), key, read.readToken(request.body), issue);
        return { task: key.taskId, status: 'claimed' };
      },
    },
  });
  resource(app, `${path}/comments`, {
    GET: {
      schema: schemas.comments,
      handler: async (request) => readComments(room(), askerOf(request), await taskOf(room(), request)),
    },
    POST: {
      schema: schemas.addComment,
      ...BODY,
      async handler(request, reply) {
        const key = await taskOf(room(), request);
        const comment = read.readComment(request.body);
        return reply.code(201).send(await addComment(room(), askerOf(request), key, comment));
      },
    },
  });
}

type Key = Awaited<ReturnType<typeof locate>>;

function consoleRoutes(app: FastifyInstance, room: () => EditingRoom): void {
  resource(app, '/api/console/tasks', {
    GET: { schema: schemas.consoleTasks, handler: (request) => listTasks(room(), taskQuery(request)) },
  });
  resource(app, '/api/console/effort', {
    GET: {
      schema: schemas.consoleEffort,
      async handler(request) {
        const { by, since } = request.query as Record<string, string | undefined>;
        const accepted = (['job', 'route', 'editor'] as const).find((one) => one === by);
        if (accepted === undefined) throw fieldError('by', 'must be job, route or editor.');
        const from = since === undefined ? undefined : new Date(since);
        if (from !== undefined && Number.isNaN(from.getTime()))
          throw fieldError('since', 'must be ISO 8601.');
        return readEffort(room(), accepted, from);
      },
    },
  });
  const path = '/api/console/tasks/:task';
  const moves = {
    release: { schema: schemas.consoleRelease, move: (by: Actor, key: Key) => freeTask(room(), by, key) },
    priority: {
      schema: schemas.consolePriority,
      move: (by: Actor, key: Key, body: unknown) => setPriority(room(), by, key, read.readPriority(body)),
    },
    reassign: {
      schema: schemas.consoleReassign,
      move: (by: Actor, key: Key, body: unknown) => reassignTask(room(), by, key, read.readUser(body)),
    },
  };
  for (const [name, { schema, move }] of Object.entries(moves)) {
    resource(app, `${path}/${name}`, {
      POST: {
        schema,
        ...BODY,
        async handler(request) {
          const key = await taskOf(room(), request);
          return { task: key.taskId, status: await move(request.person, key, request.body) };
        },
      },
    });
  }
}

function askerOf({ person }: FastifyRequest): Asker {
  return { userId: person.userId, role: person.role, name: person.name };
}

function taskOf(room: EditingRoom, request: FastifyRequest): Promise<Key> {
  return locate(room, (request.params as { task: string }).task);
}

function positionOf(request: FastifyRequest): number {
  const { position } = request.params as { position: string };
  if (!/^\d{1,9}$/.test(position)) throw notFound();
  return Number(position);
}

const MOST = 200;

function taskQuery(request: FastifyRequest): Parameters<typeof listTasks>[1] {
  const given = request.query as Record<string, string | undefined>;
  const number = (name: string, fallback: number, most: number) => {
    const written = given[name];
    if (written === undefined) return fallback;
    if (!/^\d{1,6}$/.test(written) || Number(written) > most) {
      throw fieldError(name, `must be a whole number up to ${most}.`);
    }
    return Number(written);
  };
  const status = TASK_STATUSES.find((one) => one === given.status);
  if (given.status !== undefined && status === undefined) {
    throw fieldError('status', `must be one of ${TASK_STATUSES.join(', ')}.`);
  }
  const kind = (['edit', 'review'] as const).find((one) => one === given.kind);
  if (given.kind !== undefined && kind === undefined) throw fieldError('kind', 'must be edit or review.');
  return {
    status,
    kind,
    sourceLanguage: given.source_language,
    targetLanguage: given.target_language,
    account: given.account,
    limit: number('limit', 50, MOST),
    offset: number('offset', 0, 10_000),
  };
}
