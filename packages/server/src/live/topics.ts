/**
 * What a person may look on at, by role. A topic that names what is not there, or another account's, is taken like any
 * other and never hints at anything: who asks cannot tell the two apart.
 *
 *   customer   jobs, job:ENVIRONMENT:UID, deliveries, chats, balance: of their own account
 *   editor     tasks: that the queue has moved; task:ID: one that they may look at
 *   operator   the same, and console, jobs, deliveries, engines, requests: of all accounts; job:USERNAME:ID
 */
import type { Environment, Person } from '../account.ts';
import { accountNamed, ENVIRONMENTS } from '../accounts/accounts.ts';
import { isId } from '../console.ts';
import type { Database } from '../database/database.ts';
import { type EditingRoom, jobOfTask } from '../editing/editing.ts';
import { ApiError, fieldError } from '../errors.ts';
import { findJobByUid } from '../jobs/jobs.ts';
import { isUid } from '../jobs/request.ts';
import type { Kind } from './changes.ts';
import { editKey, jobKey, kindKey, someJobKey, type Topic } from './hub.ts';

export interface TopicOptions {
  database: Database;
  editing: { room: EditingRoom };
}

export const MOST_TOPICS = 12;

type Topics = Readonly<Record<string, readonly Kind[]>>;

const OF_CUSTOMERS: Topics = {
  jobs: ['jobs'],
  deliveries: ['deliveries'],
  chats: ['chats'],
  balance: ['balance'],
};
const OF_EDITORS: Topics = { tasks: ['tasks'] };
const OF_OPERATORS: Topics = {
  ...OF_EDITORS,
  jobs: ['jobs'],
  deliveries: ['deliveries'],
  engines: ['engines'],
  requests: ['requests'],
  console: ['jobs', 'tasks', 'deliveries', 'engines', 'requests'],
};

/** @throws ApiError `invalid_request` for what is no topic of this role */
export async function readTopics(
  options: TopicOptions,
  person: Person,
  asked: readonly string[],
): Promise<Topic[]> {
  const names = [...new Set(asked)];
  if (names.length === 0 || names.length > MOST_TOPICS) {
    throw fieldError('topic', `must be given once to ${MOST_TOPICS} times.`);
  }
  return Promise.all(names.map(async (name) => ({ name, keys: await keysOf(options, person, name) })));
}

async function keysOf(options: TopicOptions, person: Person, name: string): Promise<string[]> {
  const { role, account } = person;
  const lists = { customer: OF_CUSTOMERS, editor: OF_EDITORS, operator: OF_OPERATORS }[role];
  const kinds = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (kinds !== undefined) return kinds.map((kind) => kindKey(kind, account?.ref.accountId));
  const [, thing, rest = ''] = /^(job|task):(.+)$/s.exec(name) ?? [];
  if (thing === 'job' && account !== undefined) return keysOfOwnJob(options, account.ref, rest);
  if (thing === 'job' && role === 'operator') return keysOfJob(options, rest);
  if (thing === 'task' && role !== 'customer') return keysOfTask(options, person, rest);
  throw fieldError('topic', 'is not one that this person may look on at.');
}

/** Where a job's deliveries move, the job's page shows it. */
async function keysOfOwnJob(
  { database }: TopicOptions,
  account: NonNullable<Person['account']>['ref'],
  written: string,
): Promise<string[]> {
  const [, where, uid = ''] = /^(\w+):(.*)$/s.exec(written) ?? [];
  const environment = ENVIRONMENTS.find((one): one is Environment => one === where);
  if (environment === undefined || !isUid(uid)) return [];
  const job = await findJobByUid(database, account, environment, uid);
  if (job === undefined) return [];
  const { accountId } = account;
  const { job_id: id } = job;
  return [jobKey(id), editKey(id), someJobKey(accountId), kindKey('deliveries', accountId)];
}

async function keysOfJob({ database }: TopicOptions, written: string): Promise<string[]> {
  const [, username = '', id = ''] = /^(.+):([^:]+)$/s.exec(written) ?? [];
  if (!isId(id)) return [];
  const account = await accountNamed(database, username).catch(() => undefined);
  return account === undefined ? [] : [jobKey(id), editKey(id), someJobKey(account.ref.accountId)];
}

async function keysOfTask({ editing }: TopicOptions, person: Person, id: string): Promise<string[]> {
  try {
    const { account, jobId } = await jobOfTask(editing.room, person, id);
    return [jobKey(jobId), someJobKey(account.accountId)];
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
