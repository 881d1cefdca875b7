/** Decodes the bytes of files that other programs wrote. */

/** The bytes are not text in the encoding that the file declares, or its encoding is not known. */
export class EncodingError extends Error {
  override name = 'EncodingError';
}

/** The number of bytes at the start of a file that {@link decoderOf} reads. */
export const HEAD_BYTES = 1024;

const UTF16 = /^utf-?16|^ucs-?2|^unicode/i;

/**
 * Returns the decoder of a file. The encoding is that of the byte order mark; otherwise the one that an XML declaration
 * names (XML 1.0, 4.3.3); otherwise UTF-8. A declaration of UTF-16 in single bytes is wrong and is ignored.
 *
 * @param head the first {@link HEAD_BYTES} bytes of the file, or more
 * @throws EncodingError if the declared encoding is not known
 */
export function decoderOf(head: Uint8Array): InstanceType<typeof TextDecoder> {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return strict('utf-16le');
  if (first === 0xfe && second === 0xff) return strict('utf-16be');
  if (first === 0x3c && second === 0) return strict('utf-16le');
  if (first === 0 && second === 0x3c) return strict('utf-16be');
  const start = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  const declared = /^<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/.exec(start)?.[1];
  return strict(declared === undefined || UTF16.test(declared) ? 'utf-8' : declared);
}

function strict(encoding: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch {
    throw new EncodingError(`declares the encoding ${encoding}, which is not known; save it as UTF-8`);
  }
}

/** Decodes a whole file without its byte order mark. @throws EncodingError if its bytes are not text */
export function decodeText(bytes: Uint8Array): string {
  return decoding(decoderOf(bytes), bytes);
}

/** Decodes a file in parts. @throws EncodingError if its bytes are not text */
export async function* decodeParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const part of parts) {
    decoder ??= decoderOf(part);
    yield decoding(decoder, part, true);
  }
  if (decoder !== undefined) yield decoding(decoder, new Uint8Array());
}

function decoding(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array, stream = false): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    const hint = decoder.encoding === 'utf-8' ? '; save it as UTF-8' : '';
    throw new EncodingError(`is not text in ${decoder.encoding.toUpperCase()}${hint}`);
  }
}
