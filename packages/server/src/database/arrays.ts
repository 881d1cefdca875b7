/**
 * Writes arrays of long values in PostgreSQL's binary format, which needs no escapes. The driver writes them as text: an
 * array with one text of 9 MB then takes half a second of the event loop, because each backslash and quotation mark is
 * replaced, and the result is copied several times.
 */

/** The element types that are written in the binary format, with their OIDs in PostgreSQL's catalog. */
const OIDS = { bytea: 17, text: 25, jsonb: 3802 } as const;
export type ElementType = keyof typeof OIDS;

const ARRAYS = /\$(\d+)::(bytea|text|jsonb)\[\]/g;
/** The binary format of `jsonb` has the number of its version before the text. */
const JSONB_VERSION = 1;
const INT = 4;

/** Returns the element types of the array parameters of a statement that may have long values, by position from 0. */
export function arraysOf(text: string): [position: number, type: ElementType][] {
  const found = text.matchAll(ARRAYS);
  return [...new Map([...found].map(([, number, type]) => [Number(number) - 1, type as ElementType]))];
}

/** Returns the array in the format of `array_recv`; or the value as it is, if it is no list of texts, or of bytes. */
export function encodeArray(value: unknown, type: ElementType): unknown {
  if (!Array.isArray(value) || !value.every((one) => isEncodable(one, type))) return value;
  const prefix = type === 'jsonb' ? 1 : 0;
  const lengths = value.map((one) => (one === null ? 0 : prefix + Buffer.byteLength(one)));
  const dimensions = value.length === 0 ? 0 : 1;
  const header = [
    dimensions,
    Number(value.includes(null)),
    OIDS[type],
    ...(dimensions ? [value.length, 1] : []),
  ];
  const size = lengths.reduce((sum, length) => sum + INT + length, header.length * INT);
  const encoded = Buffer.allocUnsafe(size);
  let at = 0;
  for (const number of header) at = encoded.writeInt32BE(number, at);
  for (const [index, one] of value.entries()) {
    at = encoded.writeInt32BE(one === null ? -1 : lengths[index]!, at);
    if (one === null) continue;
    if (prefix > 0) at = encoded.writeUInt8(JSONB_VERSION, at);
    at += typeof one === 'string' ? encoded.write(one, at) : one.copy(encoded, at);
  }
  return encoded;
}

/** The driver reads a text for bytes as their escaped form. */
const isEncodable = (one: unknown, type: ElementType): one is string | Buffer | null =>
  one === null || (type === 'bytea' ? Buffer.isBuffer(one) : typeof one === 'string');
