/**
 * What is done with a text as a whole: finding out what is wrong with it, what it costs and what language it is
 * in; opening it for translation; and putting its translation together. Plain functions of plain data, since they
 * also run in another process. A scanned document is many times its text, so only that of a small text is held while
 * it is translated; a large one is scanned anew.
 */
import {
  type Aligned,
  align,
  countRepeatedWords,
  countWords,
  type Description,
  type Document,
  DocumentError,
  describe,
  detectLanguage,
  type Format,
  haveSameUnits,
  type Piece,
  rebuild,
  type Segment,
  scan,
  segments,
} from '@dragoman/documents';

export interface ExamineTask {
  text: string;
  format: Format;
  /** Where the caller names none, it is detected among those offered. */
  sourceLanguage: string | undefined;
  targetLanguage: string;
  offered: readonly string[];
  /** The caller's own translation, in the same format. */
  suppliedText: string | undefined;
  /** Repeats are charged otherwise, so they are counted too; that takes cutting the text into segments. */
  countRepeats?: boolean;
}

export type Examined =
  | { kind: 'sound'; sourceLanguage: string; words: number; repeatedWords: number }
  /** The language cannot be told; the sentence is for the caller. */
  | { kind: 'undecided'; sentence: string }
  /** The sentence is for the caller and says where in the text. */
  | { kind: 'unsound'; field: 'text' | 'target_text'; sentence: string };

export function examine(task: ExamineTask): Examined {
  const scanned = attempt('text', () => scan(task.text, task.format, languagesOf(task)));
  if ('kind' in scanned) return scanned;
  const { document } = scanned;
  const language = languageOf(document, task);
  if (language.kind === 'undecided') return language;
  if (task.suppliedText !== undefined && task.format !== 'text') {
    const supplied = attempt('target_text', () => scanSupplied(task.suppliedText!, task.format));
    if ('kind' in supplied) return supplied;
    if (!haveSameUnits(document, supplied.document)) {
      const [given, wanted] = [supplied.document.units.length, document.units.length];
      const sentence = `has ${given} units where text has ${wanted}; both must have the same.`;
      return { kind: 'unsound', field: 'target_text', sentence };
    }
  }
  const { sourceLanguage } = language;
  const repeatedWords = task.countRepeats
    ? countRepeatedWords(document, sourceLanguage, segments(document, sourceLanguage))
    : 0;
  return { kind: 'sound', sourceLanguage, words: countWords(document, sourceLanguage), repeatedWords };
}

export type CountTask = Pick<ExamineTask, 'text' | 'format' | 'sourceLanguage'>;
export type Counted =
  | { kind: 'counted'; words: number }
  | { kind: 'unsound'; field: 'text'; sentence: string };

/**
 * Counts as {@link examine} does. Without a source language, named or declared, every word is counted: nothing then
 * tells which segments are in another language.
 */
export function count({ text, format, sourceLanguage }: CountTask): Counted {
  try {
    const document = scan(text, format, sourceLanguage === undefined ? {} : { sourceLanguage });
    return { kind: 'counted', words: countWords(document, document.sourceLanguage ?? 'und') };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { kind: 'unsound', field: 'text', sentence: error.message };
  }
}

export interface OpenTask {
  text: string;
  format: Format;
  sourceLanguage: string;
  targetLanguage: string;
}

/** The segments of a text that was examined before, in order. */
export function open(task: OpenTask): Segment[] {
  return segments(scan(task.text, task.format, languagesOf(task)), task.sourceLanguage);
}

/** What an editor is shown beside the segments that {@link open} gives. */
export function describeSegments(task: OpenTask): Description[] {
  return describe(scan(task.text, task.format, languagesOf(task)), task.sourceLanguage);
}

export interface AlignTask extends OpenTask {
  /** The customer's own translation, in the same format. */
  suppliedText: string;
}

/** The segments of {@link open}, each with what the customer supplied for it. */
export type AlignedSegment = Segment & Pick<Aligned, 'notes'> & { draft: Piece[] | undefined };

export function alignSupplied(task: AlignTask): AlignedSegment[] {
  const document = scan(task.text, task.format, languagesOf(task));
  const found = segments(document, task.sourceLanguage);
  const supplied = attempt('target_text', () => scanSupplied(task.suppliedText, task.format));
  // It was looked at when its job was created; an older version may have taken what this one does not.
  if ('kind' in supplied) return found.map((segment) => ({ ...segment, draft: undefined, notes: [] }));
  const aligned = align(document, supplied.document, task.sourceLanguage, task.targetLanguage);
  const byId = new Map(aligned.map((one) => [one.id, one]));
  return found.map((segment) => {
    const { pieces: draft, notes } = byId.get(segment.id)!;
    return { ...segment, draft, notes };
  });
}

/** A finished document: of XLIFF, what it says in its targets. */
const scanSupplied = (text: string, format: Format) => scan(text, format, { reads: 'target' });

/** Translations by the ids of their segments. */
export type Drafts = readonly (readonly [segmentId: string, pieces: Piece[]])[];

/** The same, with the document held until it is assembled: it is scanned and cut once. */
export function hold(task: OpenTask): { segments: Segment[]; assemble(drafts: Drafts): string } {
  const document = scan(task.text, task.format, languagesOf(task));
  return {
    segments: segments(document, task.sourceLanguage),
    assemble: (drafts) => rebuild(document, new Map(drafts), task.targetLanguage),
  };
}

export interface AssembleTask extends OpenTask {
  /** Translations by the ids that {@link open} gave the segments of the same text; what has none stays as it is. */
  drafts: Drafts;
}

/** The text with its translations in place. */
export function assemble(task: AssembleTask): string {
  const document = scan(task.text, task.format, languagesOf(task));
  document.segmentLanguage = task.sourceLanguage; // the language that the ids come from
  return rebuild(document, new Map(task.drafts), task.targetLanguage);
}

function languagesOf(task: { sourceLanguage: string | undefined; targetLanguage: string }) {
  const { sourceLanguage, targetLanguage } = task;
  return sourceLanguage === undefined ? { targetLanguage } : { sourceLanguage, targetLanguage };
}

function languageOf(
  document: Document,
  task: ExamineTask,
): { kind: 'decided'; sourceLanguage: string } | { kind: 'undecided'; sentence: string } {
  if (task.sourceLanguage !== undefined) return { kind: 'decided', sourceLanguage: task.sourceLanguage };
  const detected = detectLanguage(document, task.offered);
  return 'undecided' in detected
    ? { kind: 'undecided', sentence: detected.undecided }
    : { kind: 'decided', sourceLanguage: detected.language };
}

function attempt(
  field: 'text' | 'target_text',
  scanning: () => Document,
): { document: Document } | { kind: 'unsound'; field: 'text' | 'target_text'; sentence: string } {
  try {
    return { document: scanning() };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { kind: 'unsound', field, sentence: error.message };
  }
}

/** The tasks that can be sent to a scanner process, by name. */
export const TASKS = { align: alignSupplied, assemble, count, describe: describeSegments, examine, open };
export type Tasks = typeof TASKS;
