/**
 * Finds ICU messages (`{n, plural, one {# file} other {# files}}`). An engine must not see `plural` or `other`. The
 * message is therefore one protected code of its unit, and the text of every branch is a separate unit.
 */

import { shorten } from '../codes/codes.ts';
import type { Code, Document, Unit } from '../model/document.ts';

const opening = /\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,/g;
const deepest = 8;

interface Message {
  start: number;
  end: number;
  branches: { start: number; end: number }[];
}

/** Replaces the ICU messages of a document with codes and adds units for their branches. Units stay in text order. */
export function liftMessages(document: Document): void {
  // Most texts have no brace, and searching for a brace is much faster than matching the pattern.
  const brace = document.text.indexOf('{');
  if (brace < 0) return;
  opening.lastIndex = brace;
  if (!opening.test(document.text)) return;
  if (document.format === 'text') joinLines(document);
  const out: Unit[] = [];
  for (const unit of document.units) lift(document, unit, out, 0);
  out.forEach((unit, index) => {
    unit.index = index;
  });
  document.units = out;
}

/** Joins the lines of a plain text that one message extends over. */
function joinLines(document: Document): void {
  const whole: Unit = {
    index: 0,
    form: 'text',
    start: 0,
    end: document.text.length,
    codes: [],
    translatable: true,
  };
  const messages = findMessages(document.text, whole);
  let next = 0;
  let last: Unit | undefined;
  document.units = document.units.filter((unit) => {
    while (next < messages.length && messages[next]!.end <= unit.start) next += 1;
    const message = messages[next];
    if (last && message && message.start < last.end && message.end > unit.start) {
      last.end = unit.end;
      return false;
    }
    last = unit;
    return true;
  });
}

function lift(document: Document, unit: Unit, out: Unit[], depth: number): void {
  out.push(unit);
  const raw = document.text.slice(unit.start, unit.end);
  if (!raw.includes('{') || depth > deepest) return;
  const messages = findMessages(raw, unit);
  if (messages.length === 0) return;
  let number = unit.codes.reduce((most, code) => Math.max(most, code.number), 0);
  const codes: Code[] = [];
  const inside: Unit[] = [];
  let next = 0; // The index of the next code. Codes and messages are both in document order.
  for (const { start, end, branches } of messages) {
    while (next < unit.codes.length && unit.codes[next]!.end <= start) {
      codes.push(unit.codes[next]!);
      next += 1;
    }
    number += 1;
    const last = branches.at(-1);
    const seen = last ? document.text.slice(last.start, last.end).replace(/<[^<>]*>|[{}]/g, '') : '…';
    codes.push({ kind: 'keep', number, start, end, text: shorten(seen) });
    // In an unquoted attribute, a translated branch could end the attribute, so branches are not translated.
    for (const branch of unit.quote === '' ? [] : branches) {
      while (next < unit.codes.length && unit.codes[next]!.start < branch.start) next += 1;
      const own: Code[] = [];
      for (; next < unit.codes.length && unit.codes[next]!.end <= branch.end; next += 1) {
        own.push(unit.codes[next]!);
      }
      const { form, translatable, quote } = unit;
      inside.push({ index: 0, form, ...branch, codes: own, translatable, ...(quote && { quote }) });
    }
    while (next < unit.codes.length && unit.codes[next]!.start < end) next += 1;
  }
  unit.codes = [...codes, ...unit.codes.slice(next)];
  for (const branch of inside) lift(document, branch, out, depth + 1);
}

/** Returns the outermost ICU messages of a unit. A message that does not end, or that contains a code, is ignored. */
function findMessages(raw: string, unit: Unit): Message[] {
  const found: Message[] = [];
  let from = 0;
  const pattern = new RegExp(opening);
  for (let match = matchFrom(pattern, raw, from); match; match = matchFrom(pattern, raw, from)) {
    from = match.index + 1;
    const start = match.index + unit.start;
    if (unit.codes.some((code) => start >= code.start && start < code.end)) continue;
    const message = readMessage(raw, match.index, match[0].length, unit.start);
    // No complete message can follow an unfinished one, because its braces never close.
    if (!message) break;
    found.push(message);
    from = message.end - unit.start;
  }
  return found;
}

function matchFrom(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

function readMessage(raw: string, start: number, head: number, offset: number): Message | undefined {
  const branches: Message['branches'] = [];
  let depth = 1;
  let branch = -1;
  // Tags are skipped by a search for `>`. After the last `>` of the text, no further search is needed.
  const lastTag = raw.lastIndexOf('>');
  for (let i = start + head; i < raw.length; i += 1) {
    const sign = raw[i];
    if (sign === "'" && /[{}#|]/.test(raw[i + 1] ?? '')) {
      const end = raw.indexOf("'", i + 1);
      if (end > 0) i = end;
    } else if (sign === '<') {
      if (i < lastTag && /[a-z/!]/i.test(raw[i + 1] ?? '')) i = raw.indexOf('>', i);
    } else if (sign === '{') {
      depth += 1;
      if (depth === 2) branch = i + 1;
    } else if (sign === '}') {
      depth -= 1;
      if (depth === 1 && branch >= 0) branches.push({ start: offset + branch, end: offset + i });
      if (depth === 0) return { start: offset + start, end: offset + i + 1, branches };
    }
  }
  return undefined;
}
