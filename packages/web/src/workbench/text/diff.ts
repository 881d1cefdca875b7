/** The difference between two texts, word by word. */

export interface Part {
  text: string;
  change: 'same' | 'added' | 'removed';
}

/** Texts with more words than this are shown as removed and added as a whole. */
const MAX_WORDS = 400;

/**
 * Returns the removed, added and common parts of two texts. Together they have all words of both texts, in
 * order.
 */
export function diff(from: string, to: string, language: string): Part[] {
  const old = wordsOf(from, language);
  const now = wordsOf(to, language);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  return group([
    ...old.slice(0, start).map((text): Part => ({ text, change: 'same' })),
    ...compare(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map((text): Part => ({ text, change: 'same' })),
  ]);
}

/** Compares words by their longest common subsequence. */
function compare(old: string[], now: string[]): Part[] {
  const removed = (text: string): Part => ({ text, change: 'removed' });
  const added = (text: string): Part => ({ text, change: 'added' });
  if (old.length > MAX_WORDS || now.length > MAX_WORDS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        old[i] === now[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const parts: Part[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      parts.push({ text: old[i]!, change: 'same' });
      i += 1;
      j += 1;
    } else if (
      j === now.length ||
      (i < old.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    ) {
      parts.push(removed(old[i]!));
      i += 1;
    } else {
      parts.push(added(now[j]!));
      j += 1;
    }
  }
  return parts;
}

/**
 * Finds runs: changes that only spaces separate. The reader sees the removed words of a run as one text and
 * its added words as another. A run that only removes or only adds words stays as it is.
 */
function group(parts: readonly Part[]): Part[] {
  const grouped: Part[] = [];
  let run: Part[] = [];
  const close = () => {
    // Spaces after the last change do not belong to the run.
    const end = run.findLastIndex(({ change }) => change !== 'same') + 1;
    grouped.push(...joined(run.slice(0, end)), ...run.slice(end));
    run = [];
  };
  for (const part of parts) {
    if (part.change === 'same' && (run.length === 0 || part.text.trim() !== '')) {
      close();
      grouped.push(part);
    } else run.push(part);
  }
  close();
  return merge(grouped);
}

/**
 * Returns the removed text of a run and then its added text. Returns the run unchanged if one of these texts
 * has no word.
 */
function joined(run: readonly Part[]): readonly Part[] {
  const without = (change: Part['change']) =>
    run.map((part) => (part.change === change ? '' : part.text)).join('');
  const removed: Part = { text: without('added'), change: 'removed' };
  const added: Part = { text: without('removed'), change: 'added' };
  const words = (change: Part['change']) =>
    run.some((part) => part.change === change && part.text.trim() !== '');
  return words('removed') && words('added') ? [removed, added] : run;
}

function merge(parts: readonly Part[]): Part[] {
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last?.change === part.change) last.text += part.text;
    else merged.push({ ...part });
  }
  return merged;
}

const wordsOf = (text: string, language: string) =>
  [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)].map(({ segment }) => segment);
