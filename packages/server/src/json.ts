/** JSON bodies: bounded by a scan that costs a fraction of parsing, then parsed. */

/** Far more than any request needs: a job's topics are three levels deep, an editor's segment five. */
const MAX_DEPTH = 64;
/** A bulk of 1,000 jobs with every field and fifty topics each has some 60,000. */
const MAX_VALUES = 100_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in one bit, and so do `]` and `}`. */
const CASE = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const STEPS = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** A body that is not parsed; the message says why, for the caller. */
export class JsonError extends Error {
  override name = 'JsonError';
}

/**
 * Parses a body. Refuses what is nested too deeply or has too many values before any of it is built: 10 MB of `[` keep
 * the parser busy for three seconds, and a list of ten million empty lists takes 800 MB.
 * @throws JsonError
 */
export function parseJson(body: Buffer): unknown {
  const fault = findExcess(body);
  if (fault !== undefined) throw new JsonError(fault);
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new JsonError('must be valid JSON in UTF-8.');
  }
}

/** One pass over the bytes. UTF-8 has no byte of ASCII inside another character, so bytes are enough. */
function findExcess(body: Buffer): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === QUOTE) {
      at = endOfString(body, at);
    } else if (byte === COMMA) {
      values++;
    } else if ((byte | CASE) === OPEN) {
      values++;
      depth++;
    } else if ((byte | CASE) === CLOSE) depth--;
    if (depth > MAX_DEPTH) return `must not be nested more than ${MAX_DEPTH} levels deep.`;
    if (values > MAX_VALUES) return `must not have more than ${MAX_VALUES} values.`;
  }
  return undefined;
}

/**
 * Walks a little, then looks for the next quote natively: a call costs as much as a dozen steps, a long text without
 * quotes is passed over forty times as fast.
 * @param start of its first quote
 * @returns where its last one is, or the end of the body
 */
function endOfString(body: Buffer, start: number): number {
  for (let at = start + 1; ; ) {
    const near = Math.min(at + STEPS, body.length);
    for (; at < near && body[at] !== QUOTE; at++) if (body[at] === BACKSLASH) at++;
    if (at < near || at >= body.length) return at;
    at = body.indexOf(QUOTE, at);
    if (at < 0) return body.length;
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
    at++;
  }
}
