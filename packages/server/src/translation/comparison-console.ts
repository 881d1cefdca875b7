/** The console's HTTP routes for comparisons of engines: `/api/console/comparisons…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { fieldError, notFound, reason } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { described, emptyAnswer, ID, LANGUAGE, OPTIONAL_TEXT, textOf } from '../http/schemas.ts';
import { type EngineMeasures, type Line, measureRuns, readLines } from './comparison.ts';
import * as store from './comparison-store.ts';
import { COMPARISONS_CHANNEL } from './comparison-worker.ts';
import { listReportedEngines } from './report.ts';

const MAX_ENGINES = 8;
/**
 * Limits of a text. Measuring eight engines with a text of this size took 0.4 s of processor time, in steps of at most
 * 46 ms.
 */
const MAX_LINES = 100;
const MAX_LINE_CHARACTERS = 2_000;
const MAX_CHARACTERS = 20_000;
/** The body limit in bytes: enough for two texts of this size, with escaped characters. */
const COMPARISON_BODY = 512 * 1024;

const FIGURE = Type.Union([Type.Number(), Type.Null()]);
const SCORE = Type.Union([Type.Number(), Type.Null()], {
  description: 'chrF2 against the reference, 0 to 100; null without references.',
});
const Measures = Type.Object(
  {
    chrf: SCORE,
    agreement: FIGURE,
    copied: FIGURE,
    confidence: Type.Union([Type.Number(), Type.Null()], {
      description: 'The mean of the engine’s own confidences, 0 to 1; null if it reports none.',
    }),
    words_per_second: Type.Number(),
    cents: Type.Number({ description: 'US cents, by the costs in the settings.' }),
    failed: Type.Record(Type.String(), Type.Integer(), { description: 'The failed sentences by reason.' }),
  },
  { title: 'EngineMeasures' },
);
const ComparedEngine = Type.Object(
  {
    engine: Type.String(),
    state: Type.Enum(['waiting', 'translating', 'done']),
    translated: Type.Integer({ description: 'Sentences.' }),
    segments: Type.Integer({ description: 'All sentences; 0 until a worker has begun.' }),
    measures: Type.Union([Measures, Type.Null()], { description: 'Null until all engines are done.' }),
  },
  { title: 'ComparedEngine' },
);
const ComparedText = Type.Object(
  {
    source: Type.String(),
    reference: OPTIONAL_TEXT,
    translations: Type.Array(
      Type.Object(
        {
          engine: Type.String(),
          text: Type.String({ description: 'Without the sentences that failed.' }),
          complete: Type.Boolean({ description: 'Whether no sentence failed.' }),
          chrf: SCORE,
          copied: Type.Array(Type.String(), {
            description: 'Words of the source that are in the translation unchanged.',
          }),
        },
        { title: 'ComparedTranslation' },
      ),
    ),
  },
  { title: 'ComparedText' },
);
const EngineComparison = Type.Object(
  {
    source_language: Type.String(),
    target_language: Type.String(),
    finished: Type.Boolean(),
    engines: Type.Array(ComparedEngine),
    texts: Type.Array(ComparedText, {
      description: 'The lines of the text; empty until all engines are done.',
    }),
  },
  { title: 'EngineComparison' },
);
const path = Type.Object({ comparison: ID });

const schemas = {
  start: described(
    'compareEngines',
    'Translate a text with several engines',
    Type.Object({ comparison: ID }),
    {
      body: Type.Object({
        source_language: LANGUAGE,
        target_language: LANGUAGE,
        text: Type.String({ minLength: 1, maxLength: MAX_CHARACTERS }),
        references: Type.Optional(
          Type.String({ maxLength: MAX_CHARACTERS, description: 'A translation of each line of the text.' }),
        ),
        engines: Type.Array(textOf(30), { minItems: 1, maxItems: MAX_ENGINES }),
      }),
    },
  ),
  read: described('readComparison', 'A comparison of engines', EngineComparison, { params: path }),
  remove: {
    ...described('endComparison', 'Cancel a comparison of engines, or delete its result', Type.Object({}), {
      params: path,
    }),
    response: { 204: emptyAnswer('Deleted.') },
  },
};

export function comparisonRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/comparisons', {
    POST: {
      schema: schemas.start,
      bodyLimit: COMPARISON_BODY,
      async handler(request) {
        const { source_language, target_language, text, references } = request.body;
        const lines = readInput(text, references);
        const engines = [...new Set(request.body.engines)];
        const known = await listReportedEngines(database);
        const unknown = engines.find((engine) => !known.includes(engine));
        if (unknown !== undefined) {
          throw fieldError('engines', reason('one_of', { given: unknown, accepted: known.join(', ') }));
        }
        const comparison_id = uuidv7();
        const task = { comparison_id, engines, source_language, target_language, lines };
        await store.insertComparison(database, task);
        await database.notify(COMPARISONS_CHANNEL);
        return { comparison: comparison_id };
      },
    },
  });

  resource(app, '/api/console/comparisons/:comparison', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const tasks = await store.readComparisonTasks(database, { comparisonId: request.params.comparison });
        if (tasks.length === 0) throw notFound();
        return present(tasks);
      },
    },
    DELETE: {
      schema: schemas.remove,
      async handler(request, reply) {
        if (!(await store.deleteComparison(database, request.params.comparison))) throw notFound();
        return reply.code(204).send();
      },
    },
  });
}

/** Reads the lines of a text with their references. @throws ApiError that names the wrong field */
function readInput(text: string, references: string | undefined): Line[] {
  const given = references?.trim() === '' ? undefined : references;
  const lines = readLines(text, given);
  if (!Array.isArray(lines)) {
    const { number: line, lacks } = lines;
    const why = lacks === 'source' ? 'reference_without_line' : 'line_without_reference';
    throw fieldError('references', reason(why, { line }));
  }
  if (lines.length === 0) throw fieldError('text', reason('not_empty'));
  if (lines.length > MAX_LINES) throw fieldError('text', reason('lines_at_most', { most: MAX_LINES }));
  const isLong = (line = '') => line.length > MAX_LINE_CHARACTERS;
  const why = reason('line_at_most', { most: MAX_LINE_CHARACTERS });
  if (lines.some(({ source }) => isLong(source))) throw fieldError('text', why);
  if (lines.some(({ reference }) => isLong(reference))) throw fieldError('references', why);
  return lines;
}

async function present(
  tasks: readonly store.ComparisonTaskState[],
): Promise<Static<typeof EngineComparison>> {
  const { source_language, target_language, lines } = tasks[0]!;
  const runs = tasks.flatMap(({ engine, result }) => (result === null ? [] : [{ engine, ...result }]));
  const finished = runs.length === tasks.length;
  const measured = finished ? await measureRuns(lines, runs) : undefined;
  return {
    source_language,
    target_language,
    finished,
    engines: tasks.map(({ engine, begun, translated, segments, result }, index) => {
      const state = result !== null ? 'done' : begun ? 'translating' : 'waiting';
      const measures = measured === undefined ? null : withoutName(measured.engines[index]!);
      return { engine, state, translated, segments, measures };
    }),
    texts: measured?.texts ?? [],
  };
}

const withoutName = ({ engine: _, ...measures }: EngineMeasures) => measures;
