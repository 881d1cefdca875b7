/** The formats and their traits. Other code asks for a trait, not for a name, so that a format is a row and a scanner. */

export interface FormatTraits {
  /** The extensions of its files, in lower case, without the dot. Translated files get the first of them. */
  extensions: readonly string[];
  mediaType: string;
  /** True for cues with times: a sentence may run over several cues, and a translation may have line breaks. */
  isSubtitles?: true;
  /** True if a document can set the maximum length of a segment. */
  hasLengths?: true;
  /** What the flow view of the workbench shows. Formats without a visual layout have no flow view. */
  flow?: 'page' | 'cues';
}

const ROWS = {
  text: { extensions: ['txt', 'text'], mediaType: 'text/plain' },
  html: { extensions: ['html', 'htm'], mediaType: 'text/html', flow: 'page' },
  srt: { extensions: ['srt'], mediaType: 'application/x-subrip', isSubtitles: true, flow: 'cues' },
  xliff: { extensions: ['xlf', 'xliff'], mediaType: 'application/xliff+xml', hasLengths: true },
  vtt: { extensions: ['vtt'], mediaType: 'text/vtt', isSubtitles: true, flow: 'cues' },
} as const satisfies Record<string, FormatTraits>;

export type Format = keyof typeof ROWS;

export const TRAITS: Readonly<Record<Format, FormatTraits>> = ROWS;

/** The names of the formats, as callers write them. */
export const FORMATS = Object.keys(ROWS) as Format[];
