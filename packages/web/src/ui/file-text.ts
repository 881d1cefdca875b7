/** Reads the text of a file that a person has chosen. */
import { decodeText } from '@dragoman/documents/encodings';

/** @throws EncodingError if the file is not text in the encoding that it declares */
export async function textOf(file: File): Promise<string> {
  return decodeText(new Uint8Array(await file.arrayBuffer()));
}
