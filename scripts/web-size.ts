/** Measures the compressed size of the built web app (`npm run build`), for its test and its benchmark. */
import { readFileSync } from 'node:fs';

const DIST = new URL('../packages/web/dist/', import.meta.url);

/**
 * The maximum size of the workbench in addition to the app's shell, in kB. It was 90 kB before the flow view, the
 * filters, the completion of words and the joined segments. Their code is loaded before the page can be edited, because
 * the keys that follow a shortcut would otherwise reach the translation while the code is loading.
 */
export const MAX_WORKBENCH_KB = 95;

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

export class BuiltApp {
  readonly #manifest: Record<string, Chunk>;

  constructor() {
    this.#manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', DIST), 'utf8'));
  }

  /** The names of all chunks, such as `src/workbench/Task.tsx`. */
  get names(): string[] {
    return Object.keys(this.#manifest);
  }

  /** The files of the sign-in page. */
  get signIn(): Set<string> {
    return this.filesOf(this.names.find((name) => this.#manifest[name]!.isEntry)!);
  }

  /** The files of every page of signed-in users. */
  get shell(): Set<string> {
    return this.signIn.union(this.filesOf('src/SignedInLayout.tsx'));
  }

  /** Returns the files of a chunk with its static imports. */
  filesOf(name: string, found = new Set<string>()): Set<string> {
    const { file, css = [], imports = [] } = this.#manifest[name]!;
    if (found.has(file)) return found;
    for (const one of [file, ...css]) found.add(one);
    for (const needed of imports) this.filesOf(needed, found);
    return found;
  }

  fileOf(name: string): string {
    return this.#manifest[name]!.file;
  }

  /** Returns the kilobytes that a page loads in addition to the shell. */
  kilobytesOver(name: string): number {
    return kilobytesOf(this.filesOf(name).difference(this.shell));
  }
}

/** Returns the compressed size of files, in kilobytes of 1,000 bytes. */
export function kilobytesOf(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => sum + readFileSync(new URL(`${file}.gz`, DIST)).length, 0) / 1_000;
}
