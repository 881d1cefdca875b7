import { readFileSync } from 'node:fs';
import type { Piece } from '@dragoman/documents/pieces';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECKS, type CheckInput, check, keyOf } from '../src/checks.ts';
import { term } from './reading.ts';

const LANGUAGES = [...'en de fr fr-ca es ja zh ar el th id ko xx pt_BR'.split(' '), ''];
const UNITS = [
  ...(
    'a house Acme 1 . , ? ¿ ! : … « » \u2067 \u202c 控 は ا ٣ \u0301 🙂 {x} %s __A__ <b> ' +
    'https://a.example a@b.example st'
  ).split(' '),
  ...[' ', '  ', '\n', '\ud83d', ' pm', '\u00a0', '\0'],
];

const text = fc.array(fc.constantFrom(...UNITS), { maxLength: 30 }).map((all) => all.join(''));
const number = fc.integer({ min: 0, max: 4 });
const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 4, arbitrary: text.map((all) => ({ text: all })) },
  number.map((open) => ({ open })),
  number.map((close) => ({ close })),
  number.map((single) => ({ single })),
  fc.tuple(number, text).map(([keep, kept]) => ({ keep, text: kept })),
);
const terms = [
  term('house', 'casa'),
  term('Acme', '', { doNotTranslate: true }),
  term('a', 'a', { forbidden: true }),
  term('', '控', { forbidden: true }),
];
const input: fc.Arbitrary<CheckInput> = fc.record({
  source: fc.array(piece, { maxLength: 8 }),
  target: fc.array(piece, { maxLength: 8 }),
  from: fc.constantFrom(...LANGUAGES),
  to: fc.constantFrom(...LANGUAGES),
  format: fc.constantFrom('text', 'html', 'srt', 'xliff'),
  terms: fc.constant(terms),
  maxLength: fc.nat(50),
  time: fc.record({ from: fc.nat(5000), to: fc.nat(5000) }),
});

const PAIRS = [
  ['en', 'fr'],
  ['ja', 'ar'],
] as const;
const MOST_ROUNDS = 8;
/**
 * The largest accepted ratio between the CPU time for a text and the CPU time for an eighth of it. The ratio of linear
 * work is 8, that of quadratic work 64.
 */
const MOST_RATIO = 32;
/** The shortest CPU time that is compared. Shorter measurements are not reliable. */
const LEAST_MICROSECONDS = 500;
/**
 * A CPU time below this limit passes without a ratio. Quadratic work on the long text takes many seconds,
 * linear work a fraction of one. Ratios of short times are not reliable on a shared machine.
 */
const PLENTY_MICROSECONDS = 1_000_000;

describe('automatic checks of random texts', () => {
  it('return findings whose ranges lie in the visible text', () => {
    fc.assert(
      fc.property(input, (given) => {
        const lengthOf = (pieces: CheckInput['source']) =>
          pieces.map((one) => ('text' in one ? one.text : '')).join('').length;
        for (const finding of check(given)) {
          expect(keyOf(finding)).toContain(finding.check);
          for (const [range, length] of [
            [finding.range, lengthOf(given.target)],
            [finding.source, lengthOf(given.source)],
          ] as const) {
            if (range === undefined) continue;
            const { start, end } = range;
            expect(start >= 0 && start <= end && end <= length, JSON.stringify(finding)).toBe(true);
          }
        }
      }),
    );
  });

  it('find no difference when source and target are the same text in the same language', () => {
    const about = new Set([
      'punctuation',
      'doubled-words',
      'forbidden-terms',
      'bidi',
      'max-length',
      'line-length',
      'reading-speed',
      'codes',
      'empty',
      'terms',
    ]);
    fc.assert(
      fc.property(input, (given) => {
        const same = check({ ...given, target: given.source, to: given.from });
        expect(same.filter((one) => !about.has(one.check))).toEqual([]);
      }),
    );
  });

  it.each(
    [
      ...(
        'a 1 1, . ? ¿ !? { {{ [ [[A __ __A < % www. http:// http://a a@ a@a. - \u2067 \u202c 控 한 ا, ' +
        '« st \u0301 🙂 "'
      ).split(' '),
      ...[' ', '\u00a0', 'a a ', '1 ', '1 234 ', '<a ', 'house ', '\n'],
    ].map((unit) => [JSON.stringify(unit), unit] as const),
  )(
    'take linear time: a text of %s that is eight times as long takes about eight times the work',
    (_, unit) => {
      const given = (length: number): CheckInput => {
        const target = [{ text: unit.repeat(Math.ceil(length / unit.length)) }];
        return {
          source: target,
          target,
          format: 'srt',
          terms,
          from: 'en',
          to: 'fr',
          time: { from: 0, to: 1 },
        };
      };
      /** Returns the CPU time in microseconds that this thread needs to check one input. */
      const work = (input: CheckInput) => {
        const start = process.threadCpuUsage();
        for (const [from, to] of PAIRS) check({ ...input, from, to });
        // The kernel measures the sum exactly but divides it into user and system time by sampling, so both are
        // added.
        const { user, system } = process.threadCpuUsage(start);
        return user + system;
      };
      const [small, large] = [given(8_000), given(64_000)];
      // Garbage collection affects the time, so the minimum of several rounds counts. From 8,000 characters on, the
      // measured work is proportional to the length. Shorter texts take less time per character and would distort the
      // ratio. If the first measurement is short, no further round is needed.
      let ratio = Number.POSITIVE_INFINITY;
      let [least, most] = [ratio, work(large)];
      for (
        let round = 0;
        round < MOST_ROUNDS && !(ratio < MOST_RATIO || most < PLENTY_MICROSECONDS);
        round++
      ) {
        least = Math.min(least, work(small));
        most = Math.min(most, work(large));
        ratio = most / Math.max(least, LEAST_MICROSECONDS);
      }
      expect(ratio < MOST_RATIO || most < PLENTY_MICROSECONDS, `${ratio} times the work`).toBe(true);
    },
  );
});

describe('the checks package', () => {
  it('lists every check exactly once, each with the question that it answers about a translation', () => {
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
    for (const { question } of CHECKS) expect(question).toMatch(/^[A-Z].*\?$/);
  });

  it('has a guide that lists each check with its severity and the question that it answers', () => {
    const page = readFileSync(new URL('../../../docs/checks.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (error|warning) \| (.*) \|$/gm)];
    expect(rows.map(([, id, severity, question]) => ({ id, severity, question }))).toEqual(
      CHECKS.map(({ id, severity, question }) => ({ id, severity, question })),
    );
  });

  it('imports only browser-compatible modules', () => {
    const { seen, others } = graphOf(new URL('../src/checks.ts', import.meta.url));
    expect(others).toEqual([]);
    expect(seen.some((one) => one.endsWith('/documents/src/pieces.ts'))).toBe(true);
    // A control for the check above: `graphOf` finds imported packages, such as `saxes` in the documents
    // package.
    expect(graphOf(new URL('../../documents/src/documents.ts', import.meta.url)).others).toContain('saxes');
  });
});

/**
 * Follows the imports of a module. Returns the modules of this repository and the names of external packages.
 */
function graphOf(entry: URL): { seen: string[]; others: string[] } {
  const seen = new Set<string>();
  const others = new Set<string>();
  const visit = (url: URL) => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const code = readFileSync(url, 'utf8').replace(/^(?:import|export) type [\s\S]*? from '[^']*';$/gm, '');
    for (const [, name] of code.matchAll(/(?:from|import\()\s*'([^']+)'/g)) {
      if (name!.startsWith('.')) visit(new URL(name!, url));
      else if (name === '@dragoman/documents/pieces')
        visit(new URL('../../documents/src/pieces.ts', import.meta.url));
      else others.add(name!);
    }
  };
  visit(entry);
  return { seen: [...seen], others: [...others] };
}
