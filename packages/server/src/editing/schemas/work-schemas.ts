/** Schemas of the statistics of an editor's work. */
import Type, { type Static } from 'typebox';
import { ID, MOMENT } from '../../http/schemas.ts';
import { CLAIM_ENDS } from '../model/states.ts';
import { Issue, MILLISECONDS, TASK_KIND } from './schemas.ts';

const WorkEntry = Type.Object(
  {
    task: ID,
    kind: TASK_KIND,
    order_number: Type.Integer(),
    source_language: Type.String(),
    target_language: Type.String(),
    words: Type.Integer(),
    ended: Type.Enum([...CLAIM_ENDS]),
    claimed_at: MOMENT,
    ended_at: MOMENT,
  },
  { title: 'WorkEntry' },
);

export const Work = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date' }),
        segments: Type.Integer(),
        words: Type.Integer(),
        active_ms: MILLISECONDS,
        distance: Type.Integer({ description: 'Edit distance to the drafts, in characters.' }),
      }),
      { description: 'Segments confirmed in the last 30 days, latest day first.' },
    ),
    issues: Type.Array(
      Type.Object({
        category: Issue.properties.category,
        severity: Issue.properties.severity,
        count: Type.Integer(),
      }),
      { description: 'Errors that reviewers marked in this editor’s work in the last 30 days.' },
    ),
    tasks: Type.Array(WorkEntry, { description: 'The last 100 claims that ended, latest first.' }),
  },
  { title: 'Work' },
);

export type WorkBody = Static<typeof Work>;
