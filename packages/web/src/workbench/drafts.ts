/** What was typed and not yet acknowledged, kept in this browser (IndexedDB) until it is. */
import type { Kept } from './saving.ts';

/** The drafts of one person in one task. Other people of the same browser never see them. */
export interface Drafts {
  all(): Promise<Map<number, Kept>>;
  put(position: number, kept: Kept): Promise<void>;
  delete(position: number): Promise<void>;
}

const STORE = 'drafts';
type Key = [person: string, task: string, position: number];

export async function openDrafts(person: string, task: string): Promise<Drafts> {
  const opening = indexedDB.open('dragoman-drafts', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  return {
    async all() {
      const range = IDBKeyRange.bound([person, task, 0], [person, task, Number.MAX_SAFE_INTEGER]);
      const [keys, values] = await inStore(database, 'readonly', (store) => [
        store.getAllKeys(range),
        store.getAll(range) as IDBRequest<Kept[]>,
      ]);
      return new Map(keys.result.map((key, index) => [(key as Key)[2], values.result[index]!]));
    },
    async put(position, kept) {
      await inStore(database, 'readwrite', (store) => store.put(kept, [person, task, position]));
    },
    async delete(position) {
      await inStore(database, 'readwrite', (store) => store.delete([person, task, position]));
    },
  };
}

/** What is asked of the store in one transaction, once all of it is there, or on the disk. */
function inStore<Asked>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => Asked,
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode);
    const asked = ask(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(asked);
    // A request that fails takes its transaction with it.
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Where a browser has no such store (a private window), drafts live as long as the page. */
export function noDrafts(): Drafts {
  return { all: async () => new Map(), put: async () => {}, delete: async () => {} };
}
