/**
 * Changes the rules of a compiled constraint grammar (`*.rlx.bin`), so that `cg-proc` keeps no state between segments.
 *
 * When a test of a rule fails, `cg-proc` 1.3.9 moves the test to the front of the rule, and it stays there until the
 * process ends. The order should not matter, but in spa-cat, ita-spa and ita-cat it changed 1 of 600 sentences each. The
 * flag KEEPORDER of a rule forbids it. With it, cg-proc needs 0.3 to 4.8 % more instructions.
 */

import { UnknownFormat } from './unknown-format.ts';

/**
 * `CG3B`, and the revision of the format: 13892, and 13897 of apertium-cat-ita in Debian 13. Their rules are alike.
 */
const HEADERS = ['4347334200003644', '4347334200003649'].map((hex) => Buffer.from(hex, 'hex'));
const HEADER_LENGTH = 8;
const KEEPORDER = 1 << 10;
/** A rule starts with a bit for each of these fields. Each field that is present is a number of 32 bits. */
const FIELDS = 15;
const FLAGS = 3;
/** The number of bytes of the name, which follow it. */
const NAME = 4;
const NUMBER = 14;

/**
 * Returns the grammar with the flag KEEPORDER in every rule.
 * @throws UnknownFormat when the file has another revision of the format
 */
export function keepTestOrder(grammar: Buffer): Buffer {
  const header = grammar.subarray(0, HEADER_LENGTH);
  if (!HEADERS.some((known) => known.equals(header))) throw new UnknownFormat('not a known grammar');
  const rules = findRules(grammar);
  const parts = [grammar.subarray(0, rules[0]!.start)];
  for (const { start, flagsAt, end } of rules) {
    const fields = grammar.readUInt32BE(start);
    const hasFlags = hasBit(fields, FLAGS);
    const flags = hasFlags ? grammar.readUInt32BE(flagsAt) : 0;
    parts.push(
      uint32(fields | (1 << FLAGS)),
      grammar.subarray(start + 4, flagsAt),
      uint32((flags | KEEPORDER) >>> 0),
      grammar.subarray(flagsAt + (hasFlags ? 4 : 0), end),
    );
  }
  return Buffer.concat(parts);
}

interface Rule {
  start: number;
  /** The offset of the flags, or where they belong. */
  flagsAt: number;
  /** The position in the list, from 0. */
  number: number;
  end: number;
}

/**
 * Finds the rules, which are the last part of a grammar, after their count. The other parts are not read: the only
 * list that ends with the file and numbers its items from 0 is the list of rules.
 */
function findRules(grammar: Buffer): Rule[] {
  for (let at = grammar.length - 4; at >= HEADER_LENGTH; at--) {
    const count = grammar.readUInt32BE(at);
    // A rule has at least 16 bytes.
    if (count === 0 || count * 16 > grammar.length - at) continue;
    const rules = readRules(grammar, at + 4, count);
    if (rules !== null) return rules;
  }
  throw new UnknownFormat('the grammar has no rules');
}

/** Returns the rules from this offset to the end of the file, or null if there are others or none. */
function readRules(grammar: Buffer, start: number, count: number): Rule[] | null {
  const rules: Rule[] = [];
  let at = start;
  while (rules.length < count) {
    const rule = readRule(grammar, at);
    if (rule?.number !== rules.length) return null;
    rules.push(rule);
    at = rule.end;
  }
  return at === grammar.length ? rules : null;
}

function readRule(grammar: Buffer, start: number): Rule | null {
  let at = start;
  const next = (): number => {
    at += 4;
    return at <= grammar.length ? grammar.readUInt32BE(at - 4) : 0;
  };
  const fields = next();
  if (fields >= 2 ** FIELDS) return null;
  const rule = { start, flagsAt: 0, number: 0 };
  for (let bit = 0; bit < FIELDS; bit++) {
    if (bit === FLAGS) rule.flagsAt = at;
    if (!hasBit(fields, bit)) continue;
    const value = next();
    if (bit === NAME) at += value;
    if (bit === NUMBER) rule.number = value;
  }
  next(); // dependency target
  for (const _ of ['dependency tests', 'tests']) {
    const count = next();
    at += 4 * count;
  }
  return at <= grammar.length ? { ...rule, end: at } : null;
}

const hasBit = (bits: number, bit: number): boolean => (bits & (1 << bit)) !== 0;

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
