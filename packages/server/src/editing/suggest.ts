/** What helps with one segment: what was translated before and is like it, the terms in it, and where words stand in the memory. */
import { createHash } from 'node:crypto';
import { glossary } from '@dragoman/checks';
import { plainText } from '@dragoman/documents';
import { admit } from '../accounts/sessions.ts';
import { readContext } from '../brands/brands.ts';
import { notFound } from '../errors.ts';
import { concordance } from '../memory/entries.ts';
import { findMatches } from '../memory/memory.ts';
import { mustReach, openTask } from './access.ts';
import * as edits from './edits-store.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { ConcordanceBody, MatchesBody } from './schemas.ts';
import * as store from './store.ts';
import { presentTerm } from './view.ts';

export async function suggest(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  position: number,
): Promise<MatchesBody> {
  const task = await openTask(room, asker, key, 'held');
  await mustReach(room, asker, key, task, position);
  const { account, jobId } = key;
  const { database } = room;
  const [job, rows] = await Promise.all([
    store.readTaskJob(database, account, jobId),
    edits.readSegments(database, account, jobId, position - 1, position + 1),
  ]);
  const at = (place: number) => rows.find((row) => row.position === place)?.source;
  const source = at(position);
  if (source === undefined) throw notFound();
  const pair = { from: job.source_language, to: job.target_language, brand: job.brand ?? undefined };
  const { terms, tone } = await readContext(database, account, job.brand, job.target_language);
  const purpose = { ...pair, tone: job.tone ?? tone };
  const matches = await findMatches(database, account, purpose, source, {
    previous: at(position - 1),
    next: at(position + 1),
  });
  const found = glossary(terms, job.source_language, job.target_language).find(plainText(source));
  const inIt = new Set(found.map(({ term }) => term));
  return {
    matches: matches.map(({ memoryId, createdAt, brand, tone: confirmedUnder, ...match }) => ({
      memory: memoryId,
      ...match,
      ...(brand === undefined ? {} : { brand }),
      ...(confirmedUnder === undefined ? {} : { tone: confirmedUnder }),
      created_at: createdAt.toISOString(),
    })),
    terms: terms.filter((term) => inIt.has(term)).map(presentTerm),
  };
}

/** @throws ApiError `not_found` for who does not hold the task; `too_many_attempts` after so many questions in an hour */
export async function searchMemory(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  question: string,
): Promise<ConcordanceBody> {
  await openTask(room, asker, key, 'held');
  await countQuestion(room, asker);
  const job = await store.readTaskJob(room.database, key.account, key.jobId);
  const pair = { from: job.source_language, to: job.target_language, brand: job.brand ?? undefined };
  const found = await concordance(room.database, key.account, pair, question);
  return {
    entries: found.map((entry) => ({
      memory: entry.memoryId,
      source: entry.sourceText,
      target: entry.targetText,
      source_ranges: entry.sourceRanges.map(([start, end]) => ({ start, end })),
      target_ranges: entry.targetRanges.map(([start, end]) => ({ start, end })),
      created_at: entry.createdAt.toISOString(),
    })),
  };
}

/** So many questions an hour are more than anybody asks at work, and far fewer than it takes to copy a memory. */
const QUESTIONS_AN_HOUR = 120;
const HOUR_MS = 3_600_000;

/** Counts as attempts to sign in are counted, under another mark each hour: what is over waits for the next one. */
async function countQuestion({ database }: EditingRoom, { userId }: Asker): Promise<void> {
  const hour = Math.floor(Date.now() / HOUR_MS);
  const mark = createHash('sha256').update(`concordance ${userId} ${hour}`).digest();
  const mostSeconds = Math.ceil(((hour + 1) * HOUR_MS - Date.now()) / 1000);
  await admit(database, mark, { free: QUESTIONS_AN_HOUR, mostSeconds });
}
