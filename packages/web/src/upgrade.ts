/**
 * A page that was opened before an upgrade asks for files that are not there any more. Then there is a new version, and
 * the page is loaded anew: once, and only when what it holds is kept elsewhere.
 *
 * Whether there is one says the app's page: its script has another name in each version. Where that is the same, or
 * nobody answers, the file is missing for another reason, and fails as it failed.
 */

/** The version that this page was loaded anew from. */
const FROM = 'dragoman_upgraded_from';

/** In the place of a file of an older version, where the page must not be loaded anew by itself. */
export class NewVersion extends Error {
  override name = 'NewVersion';
}

type Keep = () => Promise<boolean>;
const keeps = new Set<Keep>();

/** @param keep is asked before a reload, and says whether nothing would be lost. @returns takes it back */
export function keepFirst(keep: Keep): () => void {
  keeps.add(keep);
  return () => {
    keeps.delete(keep);
  };
}

/** A part of the app, or the page anew where the part was of an older version. */
export async function part<Part>(fetchPart: () => Promise<Part>): Promise<Part> {
  try {
    return await fetchPart();
  } catch (error) {
    const version = ownVersion();
    if (!(await isReplaced(version))) throw error;
    // Where a reload brought the same again, another would too.
    if (sessionStorage.getItem(FROM) === version) throw new NewVersion();
    const kept = await Promise.all([...keeps].map((keep) => keep()));
    if (kept.includes(false)) throw new NewVersion();
    sessionStorage.setItem(FROM, version);
    location.reload();
    return new Promise(() => {});
  }
}

/** Whether this page was loaded anew for a new version; says so once. */
export function wasUpgraded(): boolean {
  const from = sessionStorage.getItem(FROM);
  if (from === null || from === ownVersion()) return false;
  sessionStorage.removeItem(FROM);
  return true;
}

/** The address of the app's script. */
function ownVersion(): string {
  return document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? '';
}

async function isReplaced(version: string): Promise<boolean> {
  const answer = await fetch('/app/', { cache: 'no-store' }).catch(() => undefined);
  return answer?.ok === true && !(await answer.text()).includes(version);
}
