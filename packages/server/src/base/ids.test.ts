import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

// A separate copy of the module, because these tests move its clock into the future, and later test files run in the same
// process.
const ids: typeof import('./ids.ts') = await import(new URL('./ids.ts?own', import.meta.url).href);
const { assignUid, partOf, uuidv7 } = ids;

const millisecondsOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('uuidv7', () => {
  it('has the format, the version and the variant of RFC 9562', () => {
    for (let made = 0; made < 1000; made++) {
      expect(uuidv7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('contains its creation time', () => {
    const before = Date.now();
    const id = uuidv7();
    // The time in an id is later than the clock only if more than 2,048 ids were made in one millisecond.
    expect(millisecondsOf(id)).toBeGreaterThanOrEqual(before);
  });

  it('sorts by creation, also within a millisecond and when the clock steps back', () => {
    const start = Date.now() + 10_000;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5_000, max: 5_000 }), { maxLength: 200 }), (offsets) => {
        const ids = offsets.map((offset) => uuidv7(start + offset));
        expect(ids).toEqual([...ids].sort());
      }),
    );
  });

  it('stays unique and sorted when the counter of a millisecond overflows', () => {
    const frozen = Date.now() + 100_000;
    const ids = Array.from({ length: 20_000 }, () => uuidv7(frozen));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort());
  });

  it('has every hex digit at each random position in some of 2,000 ids', () => {
    const ids = Array.from({ length: 2000 }, () => uuidv7().replaceAll('-', ''));
    // The first random digit (the seventeenth) is not checked, because two of its bits are the fixed variant.
    for (let digit = 17; digit < 32; digit++) {
      expect(new Set(ids.map((id) => id[digit])).size, `digit ${digit}`).toBe(16);
    }
  });
});

describe('assignUid', () => {
  it('returns different uids of ten lower-case hex digits', () => {
    const uids = Array.from({ length: 5000 }, assignUid);
    for (const uid of uids) expect(uid).toMatch(/^[0-9a-f]{10}$/);
    // Two of 5,000 random values out of 2^40 are equal in one of 88,000 runs.
    expect(new Set(uids).size).toBeGreaterThanOrEqual(uids.length - 1);
  });
});

describe('partOf', () => {
  it('returns the last byte of the account’s id', () => {
    expect(partOf('0198c0de-0000-7000-8000-000000000000')).toBe(0);
    expect(partOf('0198c0de-0000-7000-8000-0000000000ff')).toBe(255);
    expect(partOf('0198c0de-0000-7000-8000-00000000ab2a')).toBe(42);
  });

  it('spreads accounts over all 256 parts', () => {
    const parts = Array.from({ length: 10_000 }, () => partOf(uuidv7()));
    expect(new Set(parts).size).toBe(256);
    expect(parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255)).toBe(true);
  });
});
