/** The server calls and queries of the workbench. */
import { keepPreviousData } from '@tanstack/react-query';
import { CallError, call, query } from '../../api/client.ts';
import type { Finding } from './checking.ts';
import type { JoinRefusal, SaveAnswer, SplitRefusal, TaskServer } from './state.ts';
import type { Segment } from './task.ts';

export const task = (id: string) => query('readTask', { path: { task: id } });
/**
 * Requests the document that the server assembles from saved texts. The page shows the previous document until the new
 * one arrives. Unused documents leave the cache soon, because they can be large.
 *
 * @param at the time of the latest save, in milliseconds; when it changes, a new document is requested. Negative while
 *   a text is not saved
 */
export const preview = (id: string, at: number) => ({
  ...query('previewTask', { path: { task: id } }),
  queryKey: ['previewTask', id, at],
  placeholderData: keepPreviousData,
  enabled: at >= 0,
  gcTime: 10_000,
});
export const concordance = (id: string, words: string) => ({
  ...query('searchMemory', { path: { task: id }, query: { q: words } }),
  enabled: words !== '',
});
/** Asked for again whenever the list is opened, because other editors confirm texts too. */
export const inconsistencies = (id: string) => ({
  ...query('listInconsistencies', { path: { task: id } }),
  staleTime: 0,
});
export const history = (id: string, position: number, revision: number) => ({
  ...query('readHistory', { path: { task: id, position } }),
  queryKey: ['readHistory', id, position, revision],
});

export function createServer(id: string): TaskServer {
  const path = { task: id };
  return {
    save: (position, body) =>
      // `keepalive` lets the request finish after the user has left the page.
      call('saveSegment', { path: { task: id, position }, body }, { keepalive: true }).then(
        (saved): SaveAnswer => ({ answer: 'saved', ...saved }),
        saveRefused,
      ),
    matches: (position) => call('listMatches', { path: { task: id, position } }),
    heartbeat: (token) => call('heartbeat', { path, body: { token } }),
    async submit(token) {
      try {
        await call('submitTask', { path, body: { token } });
        return {};
      } catch (error) {
        if (error instanceof CallError && error.code === 'unconfirmed') {
          return { unconfirmed: error.details.positions as number[] };
        }
        throw error;
      }
    },
    approve: async (token) => void (await call('approveTask', { path, body: { token } })),
    returnTask: async (token, note) =>
      void (await call('returnTask', { path, body: { token, ...(note ? { note } : {}) } })),
    release: async (token) => void (await call('releaseTask', { path, body: { token } })),
    skip: async (token, reason) =>
      void (await call('skipTask', {
        path,
        body: { ...(token ? { token } : {}), reason: reason as 'other' },
      })),
    report: async (token, reason, note) =>
      void (await call('reportTask', {
        path,
        body: { ...(token ? { token } : {}), reason: reason as 'other', ...(note ? { note } : {}) },
      })),
    markIssue: (token, issue) => call('markIssue', { path, body: { token, ...issue } }),
    unmarkIssue: async (token, issue) =>
      void (await call('unmarkIssue', { path: { task: id, issue }, body: { token } })),
    async join(token, position, revision, nextRevision) {
      const body = { token, revision, next_revision: nextRevision };
      try {
        return (await call('joinSegments', { path: { task: id, position }, body })).segments;
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'not_joinable') throw error;
        return error.details.reason as JoinRefusal;
      }
    },
    separate: async (token, position, revision) =>
      (await call('separateSegments', { path: { task: id, position }, body: { token, revision } })).segments,
    async split(token, position, revision, at) {
      try {
        const body = { token, revision, at };
        return (await call('splitSegment', { path: { task: id, position }, body })).segments;
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'not_splittable') throw error;
        return error.details.reason as SplitRefusal;
      }
    },
    unsplit: async (token, position, revision) =>
      (await call('unsplitSegment', { path: { task: id, position }, body: { token, revision } })).segments,
    markUnsure: async (token, position, unsure) =>
      void (await call('markUnsure', { path: { task: id, position }, body: { token, unsure } })),
    markSeen: async (token, segments) => void (await call('markSeen', { path, body: { token, segments } })),
    ask: (token, position, question) => call('askCustomer', { path, body: { token, position, question } }),
    withdrawQuery: async (token, query) =>
      void (await call('withdrawQuery', { path: { task: id, query }, body: { token } })),
    proposeTerm: (token, term) => call('proposeTerm', { path, body: { token, ...term } }),
    withdrawTerm: async (token, proposal) =>
      void (await call('withdrawTerm', { path: { task: id, proposal }, body: { token } })),
    readTask: () => call('readTask', { path }),
    comment: (text, position) =>
      call('addComment', { path, body: { text, ...(position === undefined ? {} : { position }) } }),
  };
}

/**
 * Returns the result for an error answer to which the editor can react, such as a conflict.
 *
 * @throws the error when a later attempt may succeed: no connection, 5xx, 401 or 429
 */
function saveRefused(error: unknown): SaveAnswer {
  if (!(error instanceof CallError)) throw error;
  switch (error.code) {
    case 'stale_lease':
      return { answer: 'stale', why: 'lost' };
    case 'job_canceled':
      return { answer: 'stale', why: 'canceled' };
    case 'conflict':
      return { answer: 'conflict', segment: error.details.segment as Segment };
    case 'checks_failed':
      return { answer: 'checks_failed', findings: error.details.findings as Finding[] };
  }
  if (error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 429) {
    return { answer: 'refused', code: error.code };
  }
  throw error;
}
