/**
 * Checks that every sentence of the specification has one test, that every such test has its sentence, and
 * that the page lists them all.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conformancePage, fileOf } from './document.ts';
import { SENTENCES } from './sentences.ts';

const FILES = ['jobs.conformance.test.ts', 'chats.conformance.test.ts'];

/** Returns the ids of the sentences that a test file covers. */
function heldBy(file: string): string[] {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8');
  return [...source.matchAll(/^conforms\('([\d.]+)'/gm)].map(([, id]) => id!);
}

describe('the sentences of the specification', () => {
  it('each have exactly one test in the file that docs/conformance.md names, or a reason why there is no test', () => {
    const held = FILES.flatMap((file) => heldBy(file).map((id) => `${id} ${file}`));
    const wanted = SENTENCES.flatMap(({ id, untested }) =>
      untested === undefined ? [`${id} ${fileOf(id)}`] : [],
    );
    expect(held.sort()).toEqual(wanted.sort());
    expect(new Set(SENTENCES.map(({ id }) => id)).size).toBe(SENTENCES.length);
  });

  it('are listed in docs/conformance.md (npm run conformance)', () => {
    const page = join(import.meta.dirname, '../../../../docs/conformance.md');
    expect(readFileSync(page, 'utf8')).toBe(conformancePage());
  });
});
