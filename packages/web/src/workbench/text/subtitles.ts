/** Reads subtitles for the preview. It does not validate them, because the server wrote them. */

export interface Cue {
  number: number;
  timing: string;
  /** The times of the cue in milliseconds. */
  from: number;
  to: number;
  text: string;
}

const TIMING = /^\s*(\d+):(\d+):(\d+)[,.](\d+)\s*-->\s*(\d+):(\d+):(\d+)[,.](\d+)/;

export function cuesOf(text: string): Cue[] {
  const cues: Cue[] = [];
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMING.test(line));
    if (at === -1) continue;
    const [, ...parts] = TIMING.exec(lines[at]!)!.map(Number);
    const [h, m, s, ms, h2, m2, s2, ms2] = parts as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    cues.push({
      number: cues.length + 1,
      timing: lines[at]!.trim(),
      from: ((h * 60 + m) * 60 + s) * 1_000 + ms,
      to: ((h2 * 60 + m2) * 60 + s2) * 1_000 + ms2,
      text: lines
        .slice(at + 1)
        .join('\n')
        .replace(/<[^<>\n]*>|\{\\[^{}\n]*\}/g, '')
        .trim(),
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
