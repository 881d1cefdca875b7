/** Reads glossary files in UTF-8 or UTF-16. */
import { readFileSync, statSync } from 'node:fs';
import { BrandError } from './brand.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Returns the text of a file in UTF-8, or in UTF-16 with a byte order mark. The mark is removed.
 * @throws BrandError if the file cannot be read
 */
export function readText(file: string): string {
  let bytes: Buffer;
  try {
    if (statSync(file).size > MAX_BYTES) throw new BrandError(`${file}: is larger than 64 MiB.`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof BrandError) throw error;
    throw new BrandError(`${file}: cannot be read: ${(error as Error).message}.`);
  }
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    const hint = encoding === 'utf-8' ? '; save it as UTF-8' : '';
    throw new BrandError(`${file}: is not text in ${encoding.toUpperCase()}${hint}.`);
  }
}

function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}
