/** Reads glossary files. */
import { readFileSync, statSync } from 'node:fs';
import { decodeText, EncodingError } from '@dragoman/documents/encodings';
import { BrandError } from './brand.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Returns the text of a file in the encoding that it declares. @throws BrandError if the file cannot be read */
export function readText(file: string): string {
  let bytes: Buffer;
  try {
    if (statSync(file).size > MAX_BYTES) throw new BrandError(`${file}: is larger than 64 MiB.`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof BrandError) throw error;
    throw new BrandError(`${file}: cannot be read: ${(error as Error).message}.`);
  }
  try {
    return decodeText(bytes);
  } catch (error) {
    throw error instanceof EncodingError ? new BrandError(`${file}: ${error.message}.`) : error;
  }
}
