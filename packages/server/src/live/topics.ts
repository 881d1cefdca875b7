/**
 * The topics that a user may subscribe to, by role. A topic with an unknown id, or with an id of another
 * account, is accepted like any other topic but never gets events, so that a subscription reveals nothing.
 *
 *   customer   of the user's account: jobs, job:ENVIRONMENT:UID, deliveries, chats, balance
 *   editor     tasks: the task queue; task:ID: a task that the editor may see
 *   operator   an editor's topics; of all accounts: console, jobs, deliveries, engines, requests, job:USERNAME:ID
 */

import { accountNamed, ENVIRONMENTS } from '../access/accounts.ts';
import type { Environment, Person } from '../base/account.ts';
import { ApiError, fieldError } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import type { ChangedList } from '../database/changes.ts';
import type { Database } from '../database/database.ts';
import { type EditingContext, jobOfTask } from '../editing/editing.ts';
import { findJobByUid } from '../jobs/jobs.ts';
import { isUid } from '../jobs/uid.ts';
import type { LiveTopic } from './hub.ts';
import { editKey, jobKey, kindKey, someJobKey } from './keys.ts';

export interface TopicOptions {
  database: Database;
  editing: { context: EditingContext };
}

export const MAX_TOPICS = 12;

type TopicLists = Readonly<Record<string, readonly ChangedList[]>>;

const CUSTOMER_TOPICS: TopicLists = {
  jobs: ['jobs'],
  deliveries: ['deliveries'],
  chats: ['chats'],
  balance: ['balance'],
};
const EDITOR_TOPICS: TopicLists = { tasks: ['tasks'] };
const OPERATOR_TOPICS: TopicLists = {
  ...EDITOR_TOPICS,
  jobs: ['jobs'],
  deliveries: ['deliveries'],
  engines: ['engines'],
  requests: ['requests'],
  console: ['jobs', 'tasks', 'deliveries', 'engines', 'requests'],
};

/**
 * Reads the requested topics of a user.
 * @throws ApiError `invalid_request` for a topic that the user's role does not have
 */
export async function readTopics(
  options: TopicOptions,
  person: Person,
  requested: readonly string[],
): Promise<LiveTopic[]> {
  const names = [...new Set(requested)];
  if (names.length === 0 || names.length > MAX_TOPICS) {
    throw fieldError('topic', `must be given 1 to ${MAX_TOPICS} times.`);
  }
  return Promise.all(names.map(async (name) => ({ name, keys: await keysOf(options, person, name) })));
}

async function keysOf(options: TopicOptions, person: Person, name: string): Promise<string[]> {
  const { role, account } = person;
  const lists = { customer: CUSTOMER_TOPICS, editor: EDITOR_TOPICS, operator: OPERATOR_TOPICS }[role];
  const kinds = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (kinds !== undefined) return kinds.map((kind) => kindKey(kind, account?.ref.accountId));
  const [, kind, rest = ''] = /^(job|task):(.+)$/s.exec(name) ?? [];
  if (kind === 'job' && account !== undefined) return keysOfOwnJob(options, account.ref, rest);
  if (kind === 'job' && role === 'operator') return keysOfJob(options, rest);
  if (kind === 'task' && role !== 'customer') return keysOfTask(options, person, rest);
  throw fieldError('topic', 'is not a topic that this user may subscribe to.');
}

/**
 * Returns the keys of a customer's job topic. They include the job's deliveries, because the job page shows
 * them.
 */
async function keysOfOwnJob(
  { database }: TopicOptions,
  account: NonNullable<Person['account']>['ref'],
  name: string,
): Promise<string[]> {
  const [, prefix, uid = ''] = /^(\w+):(.*)$/s.exec(name) ?? [];
  const environment = ENVIRONMENTS.find((one): one is Environment => one === prefix);
  if (environment === undefined || !isUid(uid)) return [];
  const job = await findJobByUid(database, { account, environment, uid });
  if (job === undefined) return [];
  const { accountId } = account;
  const { job_id: id } = job;
  return [jobKey(id), editKey(id), someJobKey(accountId), kindKey('deliveries', accountId)];
}

async function keysOfJob({ database }: TopicOptions, name: string): Promise<string[]> {
  const [, username = '', id = ''] = /^(.+):([^:]+)$/s.exec(name) ?? [];
  if (!isId(id)) return [];
  const account = await accountNamed(database, username).catch(() => undefined);
  return account === undefined ? [] : [jobKey(id), editKey(id), someJobKey(account.ref.accountId)];
}

async function keysOfTask({ editing }: TopicOptions, person: Person, id: string): Promise<string[]> {
  try {
    const { account, jobId } = await jobOfTask(editing.context, person, id);
    return [jobKey(jobId), someJobKey(account.accountId)];
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
