/** The files of documents: their formats, and the name of a translated file. The functions are pure. */
import { FORMATS, type Format, TRAITS } from '@dragoman/documents';

/** All extensions of files whose format is known. */
export const EXTENSIONS = FORMATS.flatMap((format) => TRAITS[format].extensions);

/** Returns the format of a file by the extension of its name; undefined for an unknown extension. */
export function formatOf(name: string): Format | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return FORMATS.find((format) => TRAITS[format].extensions.includes(extension));
}

/** Control characters, and characters that change the order in which a name is displayed. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Removes invisible characters from the name of a file, because they can hide its extension. */
export function cleanFileName(name: string): string {
  return name.replace(INVISIBLE, '').trim();
}

/** The characters that a file system forbids in a name, or that lead to another folder. */
const FORBIDDEN = /["*/:<>?\\|]/g;
/**
 * The maximum length of a translated file's name, without language and extension, in characters. File systems
 * allow 255 bytes.
 */
const MAX_STEM = 60;

/**
 * Returns the name of a translated file: the name of the source file with the target language before the
 * extension, such as `guide.de.html`.
 * @param name the name of the source file, or the uid of the job
 */
export function resultFileName(name: string, format: Format, targetLanguage: string): string {
  const { extensions } = TRAITS[format];
  const lower = name.toLowerCase();
  const length = extensions.find((one) => lower.endsWith(`.${one}`))?.length;
  const extension = length === undefined ? extensions[0] : name.slice(-length);
  const stem = length === undefined ? name : name.slice(0, -length - 1);
  const safe = [...cleanFileName(stem).replace(FORBIDDEN, '_')].slice(0, MAX_STEM).join('');
  // A name that begins with a dot is hidden on many systems.
  return `${safe.startsWith('.') || safe === '' ? `_${safe}` : safe}.${targetLanguage}.${extension}`;
}

/**
 * Returns the `Content-Disposition` header of a download (RFC 6266). Clients that do not know `filename*` get
 * a name in ASCII.
 */
export function attachmentOf(name: string): string {
  const ascii = name.replace(/[^\w.@+-]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
