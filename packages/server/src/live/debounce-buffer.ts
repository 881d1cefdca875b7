/** Collects changes between two flushes, without duplicates and with a limited number of keys. */
import type { Change } from '../database/changes.ts';
import type { DraftProgress } from '../jobs/worker/worker.ts';
import { ANY, editKey, jobKey, kindKey, someJobKey } from './keys.ts';

/**
 * The maximum number of changed jobs of one account that are listed. If there are more, one `some_job` key
 * replaces them.
 */
const MAX_LISTED_JOBS = 20;
/**
 * The maximum number of keys. If there are more, they are replaced by one key for each kind, which stands for
 * all accounts.
 */
const MAX_KEYS = 400;

export interface DebounceBuffer {
  add(change: Change): void;
  addProgress(progress: DraftProgress): void;
  /** Returns the collected changes and empties the buffer. */
  take(): { keys: string[]; progress: DraftProgress[] };
}

export function createDebounceBuffer(): DebounceBuffer {
  let kinds = new Set<string>();
  let jobs = new Map<string, Set<string>>();
  let latest = new Map<string, DraftProgress>();
  return {
    add({ kind, account = ANY, job }) {
      if (kind !== 'job' && kind !== 'edit') kinds.add(kindKey(kind, account));
      if (job === undefined) return;
      const ofAccount = jobs.get(account) ?? new Set();
      jobs.set(account, ofAccount);
      if (ofAccount.size <= MAX_LISTED_JOBS) ofAccount.add(kind === 'edit' ? editKey(job) : jobKey(job));
    },
    addProgress(progress) {
      latest.set(progress.job, progress);
    },
    take() {
      const jobKeys = [...jobs].flatMap(([account, ofAccount]) =>
        ofAccount.size <= MAX_LISTED_JOBS ? [...ofAccount] : [someJobKey(account)],
      );
      const keys = [...kinds, ...jobKeys];
      const progress = [...latest.values()];
      kinds = new Set();
      jobs = new Map();
      latest = new Map();
      return { keys: keys.length <= MAX_KEYS ? keys : generalise(keys), progress };
    },
  };
}

function generalise(keys: readonly string[]): string[] {
  return [...new Set(keys.map((key) => `${key.split(' ')[0]} ${ANY}`))];
}
