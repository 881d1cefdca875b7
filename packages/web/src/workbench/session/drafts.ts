/** Stores unacknowledged edits in the browser (IndexedDB). */
import type { StoredDraft } from './save-queue.ts';

/** The drafts of one user in one task. Other users of the same browser never see them. */
export interface Drafts {
  all(): Promise<Map<number, StoredDraft>>;
  put(position: number, draft: StoredDraft): Promise<void>;
  delete(position: number): Promise<void>;
}

const STORE = 'drafts';
type Key = [user: string, task: string, position: number];

export async function openDrafts(user: string, task: string): Promise<Drafts> {
  const opening = indexedDB.open('dragoman-drafts', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  return {
    async all() {
      const range = IDBKeyRange.bound([user, task, 0], [user, task, Number.MAX_SAFE_INTEGER]);
      const [keys, values] = await inStore(database, 'readonly', (store) => [
        store.getAllKeys(range),
        store.getAll(range) as IDBRequest<StoredDraft[]>,
      ]);
      return new Map(keys.result.map((key, index) => [(key as Key)[2], values.result[index]!]));
    },
    async put(position, draft) {
      await inStore(database, 'readwrite', (store) => store.put(draft, [user, task, position]));
    },
    async delete(position) {
      await inStore(database, 'readwrite', (store) => store.delete([user, task, position]));
    },
  };
}

/** Runs requests in one transaction. Resolves when the transaction has committed. */
function inStore<Requests>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  request: (store: IDBObjectStore) => Requests,
): Promise<Requests> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode);
    const requests = request(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(requests);
    // A failed request aborts its transaction.
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * A replacement for browsers without storage, such as private windows. Drafts last only as long as the page.
 */
export function noDrafts(): Drafts {
  return { all: async () => new Map(), put: async () => {}, delete: async () => {} };
}
