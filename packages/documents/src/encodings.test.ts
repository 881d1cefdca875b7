import { describe, expect, it } from 'vitest';
import { decodeParts, decodeText, EncodingError } from './encodings.ts';

const TEXT = 'El puerto abrirá mañana.';
const xml = (encoding: string) => `<?xml version="1.0" encoding='${encoding}' ?>\n<tmx>${TEXT}</tmx>`;
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** What a file has, its bytes, and its text. */
const FILES: [string, Uint8Array, string][] = [
  ['no declaration', Buffer.from(TEXT), TEXT],
  ['a byte order mark', Buffer.from(`\ufeff${TEXT}`), TEXT],
  ['a declaration of ISO-8859-1', Buffer.from(xml('ISO-8859-1'), 'latin1'), xml('ISO-8859-1')],
  ['a declaration of windows-1252', Buffer.from(xml('windows-1252'), 'latin1'), xml('windows-1252')],
  ['a declaration of UTF-8', Buffer.from(xml('utf-8')), xml('utf-8')],
  ['UTF-16 with a mark', utf16(`\ufeff${TEXT}`), TEXT],
  ['UTF-16, big-endian, with a mark', utf16(`\ufeff${TEXT}`).swap16(), TEXT],
  ['XML in UTF-16 without a mark', utf16(xml('UTF-16')), xml('UTF-16')],
  ['a false declaration of UTF-16', Buffer.from(xml('utf-16')), xml('utf-16')],
  ['a declaration behind other text', Buffer.from(` ${xml('latin1')}`), ` ${xml('latin1')}`],
  [
    'a declaration of Shift_JIS',
    Buffer.concat([Buffer.from('<?xml encoding="Shift_JIS"?>'), Buffer.of(0x89, 0xc6)]),
    '<?xml encoding="Shift_JIS"?>家',
  ],
];

async function joined(parts: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const part of decodeParts(parts)) text += part;
  return text;
}

describe.each(FILES)('a file with %s', (_, bytes, text) => {
  it('is decoded', () => expect(decodeText(bytes)).toBe(text));
  it('is decoded in parts that cut characters in two', async () => {
    async function* parts() {
      yield bytes.subarray(0, 64);
      for (let at = 64; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
    }
    expect(await joined(parts())).toBe(text);
  });
});

it.each([
  ['bytes that are no UTF-8', Buffer.from('caf\xe9', 'latin1'), 'is not text in UTF-8; save it as UTF-8'],
  [
    'an unknown encoding',
    Buffer.from(xml('EBCDIC-7')),
    /^declares the encoding EBCDIC-7, which is not known; /,
  ],
  ['half a character in the end', Buffer.from('ma\xc3', 'latin1'), 'is not text in UTF-8; save it as UTF-8'],
  ['an odd number of bytes in UTF-16', utf16('\ufeffab').subarray(0, 5), 'is not text in UTF-16LE'],
])('a file with %s is refused', async (_, bytes, message) => {
  expect(() => decodeText(bytes)).toThrow(message);
  async function* parts() {
    yield bytes;
  }
  await expect(joined(parts())).rejects.toThrow(EncodingError);
});
