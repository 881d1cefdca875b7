/** Schemas of the console's operations on tasks. */
import Type, { type Static } from 'typebox';
import { GIVEN_MOMENT, ID, MOMENT, OPTIONAL_TEXT, PAGE } from '../../http/schemas.ts';
import {
  describedEditing,
  listedProperties,
  MILLISECONDS,
  TASK_KIND,
  TASK_STATUS,
  TaskState,
  taskParameters,
} from './schemas.ts';

const ConsoleTask = Type.Object(
  {
    ...listedProperties,
    account: Type.String({ description: 'The user name of the account.' }),
    job: ID,
    editor: Type.Union([Type.Object({ user: ID, name: Type.String() }), Type.Null()], {
      description: 'The editor who holds the task, or held it last.',
    }),
    lease_until: Type.Union([MOMENT, Type.Null()]),
    skips: Type.Integer(),
    reports: Type.Array(
      Type.Object({
        reason: Type.String(),
        note: OPTIONAL_TEXT,
        by: Type.String(),
        created_at: MOMENT,
      }),
    ),
  },
  { title: 'ConsoleTask' },
);

const ConsoleTasks = Type.Object(
  {
    tasks: Type.Array(ConsoleTask),
    counts: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        kind: TASK_KIND,
        status: TASK_STATUS,
        tasks: Type.Integer(),
        words: Type.Integer(),
        oldest_at: MOMENT,
      }),
      { description: 'Unfinished tasks by language pair, kind and status.' },
    ),
    more: Type.Boolean(),
  },
  { title: 'ConsoleTasks' },
);

const Effort = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        key: Type.String({
          description:
            'The uid of the job, the source of the draft, or the name of the editor, as `by` requests.',
        }),
        segments: Type.Integer(),
        words: Type.Integer(),
        active_ms: MILLISECONDS,
        distance: Type.Integer(),
        untouched: Type.Integer({ description: 'Segments whose draft was confirmed unchanged.' }),
      }),
    ),
  },
  { title: 'Effort' },
);

export const consoleTaskSchemas = {
  list: describedEditing('listTasks', 'List the tasks of all accounts', ConsoleTasks, {
    querystring: Type.Object({
      status: Type.Optional(TASK_STATUS),
      kind: Type.Optional(TASK_KIND),
      source_language: Type.Optional(Type.String()),
      target_language: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
      job: Type.Optional(ID),
      limit: PAGE,
      offset: Type.Integer({ minimum: 0, maximum: 10_000, default: 0 }),
    }),
  }),
  release: describedEditing('releaseTaskOfAnother', 'Return a task to the queue', TaskState, {
    description:
      'Ends the claim of its editor, if there is one. Releasing a reported task resolves its reports.',
    params: taskParameters,
  }),
  priority: describedEditing('setPriority', 'Set the priority of a task', TaskState, {
    description: 'Refused after the task was submitted.',
    params: taskParameters,
    body: Type.Object({ priority: Type.Integer({ minimum: -10, maximum: 10 }) }),
  }),
  reassign: describedEditing('reassignTask', 'Reassign a task to an editor', TaskState, {
    description: 'Ends the current claim and reserves the task for the editor for some hours.',
    params: taskParameters,
    body: Type.Object({ user: ID }),
  }),
  effort: describedEditing('readEffort', 'Sum the editing effort by job, draft source or editor', Effort, {
    querystring: Type.Object({
      by: Type.Enum(['job', 'route', 'editor']),
      since: Type.Optional(GIVEN_MOMENT),
    }),
  }),
} as const;

export type ConsoleTaskBody = Static<typeof ConsoleTask>;
export type ConsoleTasksBody = Static<typeof ConsoleTasks>;
export type EffortBody = Static<typeof Effort>;
