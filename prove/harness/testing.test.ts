import { expect, it } from 'vitest';
import { digestTypes } from './testing.ts';

it('digest of types: changes with a field of an interface, but not with a comment or a function', () => {
  const code = 'interface Fact {\n  uid: string;\n}\nconst one = 1;\n';
  const digest = digestTypes([code]);
  expect(digestTypes([code.replace('uid', 'job')])).not.toBe(digest);
  expect(digestTypes([`${code}export interface More {\n  id: number;\n}\n`])).not.toBe(digest);
  expect(digestTypes([code.replace('  uid', '  /** Its id. */\n  uid').replace('= 1', '= 2')])).toBe(digest);
});
