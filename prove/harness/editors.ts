/** Simulates editors. They are signed in without a password and call the routes of the workbench. */

import { createPerson } from '../../packages/server/src/access/people.ts';
import { cookieOf } from '../../packages/server/src/access/session-auth.ts';
import { startSession } from '../../packages/server/src/access/sessions.ts';
import type { Database } from '../../packages/server/src/database/database.ts';
import type { Settings } from '../../packages/server/src/settings/settings.ts';
import { ENGLISH_TO_SPANISH } from '../../scripts/program.ts';
import { sendRequest, sendUntilAnswered } from './requests.ts';

/** Settings for many editors that often lose their claims. The log is off, because connections break all the time. */
export const MANY_EDITORS = {
  DRAGOMAN_LOG_LEVEL: 'silent',
  DRAGOMAN_CLAIM_EXPIRIES: '1000',
  DRAGOMAN_TASK_SKIPS: '1000',
  DRAGOMAN_TASK_RESERVED: '0',
};

/**
 * Settings after all drafts were made. They name no engine that runs, because no engine is needed then, and Apertium
 * would repeat its self-tests at each start.
 */
export const NO_ENGINE = {
  DRAGOMAN_ENGINES: 'llm',
  DRAGOMAN_LLM_URL: 'http://127.0.0.1:9',
  DRAGOMAN_LLM_MODEL: 'none',
  DRAGOMAN_LLM_PAIRS: 'en>es',
};

/**
 * Creates an editor for one language pair and starts a session.
 *
 * @param reviewShare the percentage of the editor's tasks that are reviewed
 * @param review whether the editor may review
 * @returns the user id, and the session's cookie as `name=value`
 */
export async function createEditor(
  database: Database,
  settings: Settings,
  { email, reviewShare, review }: { email: string; reviewShare: number; review: boolean },
  { from, to } = ENGLISH_TO_SPANISH,
): Promise<{ userId: string; cookie: string }> {
  const userId = await createPerson(database, 'program', {
    email,
    role: 'editor',
    reviewShare,
    languages: [{ source_language: from, target_language: to, review }],
  });
  const visitor = { address: '127.0.0.1', userAgent: undefined, token: undefined };
  const { token } = await startSession(database, settings, { userId, passwordHash: null }, visitor);
  return { userId, cookie: `${cookieOf(settings).name}=${token}` };
}

export interface EditingAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the interface
  body: any;
}

/**
 * Sends an editor's request to a path below `/api/editing` and repeats it while the status is 500 or above.
 *
 * @returns the response, or undefined after giving up
 */
export async function sendAsEditor(
  { url, cookie, giveUp }: { url: string; cookie: string; giveUp?: () => boolean },
  method: string,
  path: string,
  body?: object,
): Promise<EditingAnswer | undefined> {
  const request =
    body === undefined
      ? { method, headers: { cookie } }
      : { method, headers: { cookie, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await sendUntilAnswered(
    () => sendRequest(`${url}/api/editing${path}`, request),
    giveUp === undefined ? {} : { giveUp },
  );
  return answer && { status: answer.status, body: answer.text === '' ? {} : JSON.parse(answer.text) };
}
