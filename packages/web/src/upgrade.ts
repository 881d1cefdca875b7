/**
 * After an upgrade of the server, a page that is still open requests files that no longer exist. The page is
 * then reloaded, but only once, and only if no unsaved input would be lost.
 *
 * The name of the app's script shows whether there is a new version, because the name differs in each
 * version. If the name is the same or the server does not answer, the file is missing for another reason, and
 * the error is thrown.
 */

/** The session storage key of the version that this page was reloaded from. */
const RELOADED_FROM = 'dragoman_upgraded_from';

/** Thrown when a file belongs to an older version, but the page must not be reloaded automatically. */
export class NewVersionError extends Error {
  override name = 'NewVersionError';
}

type Guard = () => Promise<boolean>;
const guards = new Set<Guard>();

/**
 * Adds a guard.
 * @param guard called before a reload; resolves false to prevent it
 * @returns a function that removes the guard
 */
export function beforeReload(guard: Guard): () => void {
  guards.add(guard);
  return () => {
    guards.delete(guard);
  };
}

/**
 * Loads a part of the app; reloads the page when the part belongs to an older version.
 *
 * @throws NewVersionError when a reload did not help or was prevented
 */
export async function loadChunk<Chunk>(load: () => Promise<Chunk>): Promise<Chunk> {
  try {
    return await load();
  } catch (error) {
    const version = ownVersion();
    if (!(await isReplaced(version))) throw error;
    // A reload that brought the same version must not be repeated.
    if (sessionStorage.getItem(RELOADED_FROM) === version) throw new NewVersionError();
    const allowed = await Promise.all([...guards].map((guard) => guard()));
    if (allowed.includes(false)) throw new NewVersionError();
    sessionStorage.setItem(RELOADED_FROM, version);
    location.reload();
    return new Promise(() => {});
  }
}

/**
 * Loads a part of the app before the user opens the page that needs it, because the pointer is over a link. This
 * must not reload the page, unless the user has followed the link meanwhile: the router then waits for this load.
 *
 * @param address the path and query of the page
 */
export async function preloadChunk<Chunk>(load: () => Promise<Chunk>, address: string): Promise<Chunk> {
  try {
    return await load();
  } catch (error) {
    if (!location.href.endsWith(address)) throw error;
    return loadChunk(load);
  }
}

/** Returns whether this page was reloaded for a new version; true only once. */
export function wasUpgraded(): boolean {
  const from = sessionStorage.getItem(RELOADED_FROM);
  if (from === null || from === ownVersion()) return false;
  sessionStorage.removeItem(RELOADED_FROM);
  return true;
}

/** Returns the address of the app's script. */
function ownVersion(): string {
  return document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? '';
}

async function isReplaced(version: string): Promise<boolean> {
  const answer = await fetch('/app/', { cache: 'no-store' }).catch(() => undefined);
  return answer?.ok === true && !(await answer.text()).includes(version);
}
