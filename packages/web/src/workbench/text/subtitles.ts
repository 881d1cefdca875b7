/** Reads subtitles for the preview. It does not validate them, because the server wrote them. */

export interface Cue {
  number: number;
  timing: string;
  /** The times of the cue in milliseconds. */
  from: number;
  to: number;
  text: string;
}

const TIMING = /^\s*(?:(\d+):)?(\d+):(\d+)[,.](\d+)\s*-->\s*(?:(\d+):)?(\d+):(\d+)[,.](\d+)/;

/** The character references that WebVTT's authors use. */
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

export function cuesOf(text: string): Cue[] {
  const isVtt = /^\ufeff?WEBVTT/.test(text);
  const cues: Cue[] = [];
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMING.test(line));
    if (at === -1) continue;
    const parts = TIMING.exec(lines[at]!)!.map((part) => Number(part ?? 0));
    const ms = (first: number) =>
      ((parts[first]! * 60 + parts[first + 1]!) * 60 + parts[first + 2]!) * 1_000 + parts[first + 3]!;
    const words = lines
      .slice(at + 1)
      .join('\n')
      .replace(/<[^<>\n]*>|\{\\[^{}\n]*\}/g, '')
      .trim();
    cues.push({
      number: cues.length + 1,
      timing: lines[at]!.trim(),
      from: ms(1),
      to: ms(5),
      text: isVtt ? words.replace(/&(\w+);/g, (raw, name) => NAMED[name] ?? raw) : words,
    });
  }
  return cues;
}

/** Returns the reading speed in characters a second. */
export function speedOf({ from, to, text }: Cue): number {
  const characters = [...new Intl.Segmenter().segment(text.replaceAll('\n', ' '))].length;
  return to > from ? Math.round((characters * 1_000) / (to - from)) : 0;
}

/** Returns a time in milliseconds as minutes and seconds, such as `1:05`, with hours if there are any. */
export function timeLabel(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}
