/**
 * Two editors who have no claim on a task call all routes of the task. One editor may claim the task but has not. The
 * other editor wrote one of its segments, released the task and then lost the languages. Every text of the customer
 * has a mark, so that each response shows which texts it contains.
 */
import type { Answered } from './run.ts';

export interface Shown {
  asked: string;
  answer: Answered;
  /** The marks that the response may contain. Each mark is a word in one of the customer's texts. */
  may: readonly string[];
  /** True if the call would change the job if it were allowed. */
  changes: boolean;
}

const SEGMENTS = 8;
/** The marks of the texts. No mark is part of another mark. */
const MARKS = {
  segment: (position: number) => `zeichen${position}.`,
  comment: 'zeichenrede',
  memory: 'zeichenspeicher',
};
export const ALL_MARKS = [
  ...Array.from({ length: SEGMENTS }, (_, position) => MARKS.segment(position)),
  MARKS.comment,
  MARKS.memory,
];
/** The maximum number of words in a task, which is enough for two segments. */
export const TASK_WORDS = '8';

/** The text of a job with four tasks. */
export const MARKED_TEXT = Array.from(
  { length: SEGMENTS },
  (_, position) => `The big house ${MARKS.segment(position)}`,
).join('\n');
export const MARKED_MEMORY = `The big house of ${MARKS.memory} is open.`;

type Send = (method: string, path: string, body?: string) => Promise<Answered>;

export interface EditorsOptions {
  /** Sends requests of the editor who may claim the task but claims nothing. */
  asking: Send;
  /** Sends requests of the editor whose languages are removed with `takeLanguages` during the run. */
  leaving: Send;
  takeLanguages(): Promise<void>;
  /** The documented operations of a task. */
  operations: readonly { method: string; path: string }[];
}

export async function askAsEditors({ asking, leaving, takeLanguages, operations }: EditorsOptions) {
  const { task, positions } = await workAndLeave(leaving);
  await takeLanguages();
  const shown: Shown[] = [];
  const editors = [
    { name: 'who has not claimed', send: asking, own: positions },
    { name: 'who has left', send: leaving, own: positions.slice(0, 1) },
  ];
  for (const { name, send, own } of editors) {
    for (const { method, path } of operations) {
      const changes = method !== 'GET';
      if (changes && !/comments$|segments\/\{position\}$/.test(path)) continue;
      for (let position = 0; position < SEGMENTS; position++) {
        const at = path.replace('{task}', task).replace('{position}', String(position));
        const query = path.endsWith('concordance') ? '?q=house' : '';
        const answer = await send(method, at + query, changes ? bodyOf(position) : undefined);
        shown.push({ asked: `${method} ${at} by ${name}`, answer, may: own.map(MARKS.segment), changes });
        if (!path.includes('{position}') && !changes) break;
      }
    }
  }
  return shown;
}

/** Returns a request body with a lease token that does not exist. */
function bodyOf(position: number): string {
  const token = '00000000-0000-7000-8000-000000000000';
  const saved = { token, revision: 0, target: [{ text: 'Una casa' }], status: 'draft' };
  return JSON.stringify({ text: 'I was never here.', position, ...saved });
}

/** Claims the task of the first segment, adds a comment, saves the segment and releases the task. */
async function workAndLeave(send: Send): Promise<{ task: string; positions: number[] }> {
  const call = async (method: string, path: string, body: object) => {
    const { status, text } = await send(method, path, JSON.stringify(body));
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text);
  };
  const open: { task: string; words: number }[] = JSON.parse(
    (await send('GET', '/api/editing/queue')).text,
  ).open;
  for (const { task } of open) {
    const claimed = await call('POST', '/api/editing/claims', { task });
    const path = `/api/editing/tasks/${task}`;
    const { token } = claimed.lease;
    const own = claimed.task.segments.filter(({ mine }: { mine: boolean }) => mine);
    if (own[0].source[0].text.endsWith(MARKS.segment(0))) {
      await call('POST', `${path}/comments`, { text: MARKS.comment });
      const saved = { token, revision: 0, target: own[0].draft, status: 'draft' };
      await call('PUT', `${path}/segments/${own[0].position}`, saved);
      await call('POST', `${path}/release`, { token });
      return { task, positions: own.map(({ position }: { position: number }) => position) };
    }
    await call('POST', `${path}/release`, { token });
  }
  throw new Error('there is no task with the marked text');
}
