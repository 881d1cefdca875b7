/** What was typed and not yet acknowledged, kept in this browser (IndexedDB) until it is. */
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Kept } from './saving.ts';

interface Shape extends DBSchema {
  drafts: { key: [person: string, task: string, position: number]; value: Kept };
}

/** The drafts of one person in one task. Other people of the same browser never see them. */
export interface Drafts {
  all(): Promise<Map<number, Kept>>;
  put(position: number, kept: Kept): Promise<void>;
  delete(position: number): Promise<void>;
}

export async function openDrafts(person: string, task: string): Promise<Drafts> {
  const database = await openDB<Shape>('dragoman-drafts', 1, {
    upgrade(created) {
      created.createObjectStore('drafts');
    },
  });
  return {
    all: () => all(database, person, task),
    put: async (position, kept) => {
      await database.put('drafts', kept, [person, task, position]);
    },
    delete: (position) => database.delete('drafts', [person, task, position]),
  };
}

async function all(database: IDBPDatabase<Shape>, person: string, task: string): Promise<Map<number, Kept>> {
  const range = IDBKeyRange.bound([person, task, 0], [person, task, Number.MAX_SAFE_INTEGER]);
  const [keys, values] = await Promise.all([
    database.getAllKeys('drafts', range),
    database.getAll('drafts', range),
  ]);
  return new Map(keys.map((key, index) => [key[2], values[index]!]));
}

/** Where a browser has no such store (a private window), drafts live as long as the page. */
export function noDrafts(): Drafts {
  return { all: async () => new Map(), put: async () => {}, delete: async () => {} };
}
