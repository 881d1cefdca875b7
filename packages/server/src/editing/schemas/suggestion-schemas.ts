/**
 * Schemas of what the translation memory suggests for a segment: matches, and entries that an editor's search
 * finds.
 */
import Type from 'typebox';
import type { Answer } from '../../http/answers.ts';
import { ID, MOMENT } from '../../http/schemas.ts';
import { Piece } from '../model/piece-schemas.ts';
import { Segment, TaskTerm } from './schemas.ts';

/** Where an editor confirmed a text that was not delivered since. */
const CONFIRMED = ['document', 'open_job'] as const;
const ORIGINS = '`document`: another segment of this job; `open_job`: a job that was not delivered yet.';
const EDITOR = Type.Optional(
  Type.String({ description: 'The name of the editor who confirmed it in this document or open job.' }),
);

const MatchBody = Type.Object(
  {
    memory: ID,
    source: Type.Array(Piece, { description: 'The source of the memory entry.' }),
    target: Type.Array(Piece, {
      description: 'The target of the memory entry, with the codes of this segment.',
    }),
    score: Type.Integer({ minimum: 0, maximum: 100 }),
    kind: Type.Enum(['context', 'exact', 'fuzzy']),
    origin: Type.Enum(['job', 'import', ...CONFIRMED], {
      description: `\`import\`: a file; \`job\`: a job that was delivered; ${ORIGINS}`,
    }),
    editor: EDITOR,
    part: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The part of a split segment that it translates; without it, the whole segment.',
      }),
    ),
    brand: Type.Optional(Type.String()),
    tone: Type.Optional(Type.String({ description: 'The tone of the job in which it was confirmed.' })),
    created_at: MOMENT,
  },
  { title: 'TaskMatch', description: 'A match of the translation memory.' },
);
export const Matches = Type.Object(
  {
    matches: Type.Array(MatchBody, { description: 'Best match first.' }),
    terms: Type.Array(TaskTerm, { description: 'The glossary terms that occur in the segment.' }),
    segment: Type.Optional(Segment),
  },
  { title: 'Matches' },
);

export const Concordance = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        memory: ID,
        source: Type.String(),
        target: Type.String(),
        origin: Type.Optional(
          Type.Enum([...CONFIRMED], { description: `${ORIGINS} Absent for an entry that was delivered.` }),
        ),
        editor: EDITOR,
        created_at: MOMENT,
      }),
    ),
  },
  { title: 'Concordance' },
);

export const Inconsistencies = Type.Object(
  {
    count: Type.Integer({
      description: 'The number of sources with several texts. At most 100 of them are listed.',
    }),
    sources: Type.Array(
      Type.Object({
        source: Type.Array(Piece, { description: 'The source of the first of these segments.' }),
        texts: Type.Array(
          Type.Object({
            target: Type.Array(Piece),
            positions: Type.Array(Type.Integer(), {
              description: 'The segments that were confirmed with it.',
            }),
          }),
        ),
      }),
    ),
    text_count: Type.Integer({
      description:
        'The number of confirmed texts that translate sources with different terms of the glossary. Terms with the same ' +
        'target are not different. At most 100 of these texts are listed.',
    }),
    texts: Type.Array(
      Type.Object({
        target: Type.Array(Piece),
        sources: Type.Array(
          Type.Object({
            source: Type.Array(Piece, { description: 'The first source with these terms.' }),
            positions: Type.Array(Type.Integer(), {
              description: 'The segments whose sources have these terms.',
            }),
          }),
        ),
      }),
    ),
  },
  {
    title: 'Inconsistencies',
    description:
      'Sources that have different confirmed texts in the document, and texts of sources with different terms, also in ' +
      'tasks of other editors. The numbers of tags, addresses and the width of spaces make no difference.',
  },
);

export type InconsistenciesBody = Answer<typeof Inconsistencies>;
export type MatchesBody = Answer<typeof Matches>;
export type ConcordanceBody = Answer<typeof Concordance>;
