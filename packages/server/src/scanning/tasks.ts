/**
 * Tasks on a whole text: checking it, counting its words, detecting its language, opening it for translation,
 * and assembling its translation. They are pure functions of plain data, because they also run in other
 * processes. A scanned document takes many times the memory of its text. So only small documents stay in
 * memory during the translation, and large documents are scanned again.
 */
import {
  type Aligned,
  align,
  carryOver,
  countRepeatedWords,
  countSegmentWords,
  countWords,
  type Description,
  type Document,
  DocumentError,
  describe,
  detectLanguage,
  type Format,
  findRepeated,
  haveSameUnits,
  type Joined,
  type JoinFault,
  type JoinPart,
  join,
  type Piece,
  protectedParts,
  rebuild,
  type ScanOptions,
  type Segment,
  scan,
  segments,
} from '@dragoman/documents';

/**
 * How a text is read, apart from its format and language. A job or message keeps the settings that it was created with
 * (`brands/document-settings.ts`).
 */
export interface DocumentSettings {
  /** Regular expressions without faults. What they match is not translated. */
  protect?: readonly string[];
  /** XLIFF segments whose target has the state `translated` are translated again. */
  retranslate?: true;
  /** The language that an HTML page declares is set to the target language. */
  setLang?: true;
}

export interface ExamineTask {
  text: string;
  format: Format;
  /** The source language; undefined when it is to be detected among the offered languages. */
  sourceLanguage: string | undefined;
  targetLanguage: string;
  settings: DocumentSettings;
  offered: readonly string[];
  /**
   * Languages of the account's latest texts, most frequent first. The detector uses them to decide between
   * similar languages.
   */
  recent?: readonly string[];
  /** The customer's own translation, in the same format. */
  suppliedText: string | undefined;
  /**
   * Whether to count the words of repeated segments separately, because these have another price. Counting
   * them requires the segments.
   */
  countRepeats?: boolean;
  /** Whether to return up to 5,000 segments instead, to look them up in the translation memory. */
  listSegments?: boolean;
}

/** A segment of an examined text. */
export interface ExaminedSegment {
  pieces: Piece[];
  /** The number of words; 0 for a segment that is not translated. */
  words: number;
  /** Whether it repeats an earlier segment of the text. */
  isRepeat: boolean;
}

export type ExamineResult =
  | {
      kind: 'valid';
      sourceLanguage: string;
      words: number;
      /** The number of these words that are in repeated segments; 0 if they were not to be counted. */
      repeatedWords: number;
      /** All segments in order; undefined if they were not requested or are too many. */
      segments: ExaminedSegment[] | undefined;
    }
  /** The language could not be detected. `sentence` explains it to the customer. */
  | { kind: 'languageUndetermined'; sentence: string }
  | Invalid;

/** The text is invalid. `sentence` explains it to the customer and names the place in the text. */
interface Invalid {
  kind: 'invalid';
  field: 'text' | 'target_text';
  sentence: string;
  /** The reason and the place that the sentence names. Undefined if the fault has no place in the text. */
  fault?: { why: string; line: number; column: number };
}

export function examine(task: ExamineTask): ExamineResult {
  const scanned = attempt('text', () => scan(task.text, task.format, { ...optionsOf(task), isNew: true }));
  if ('kind' in scanned) return scanned;
  const { document } = scanned;
  const language = languageOf(document, task);
  if (language.kind === 'languageUndetermined') return language;
  if (task.suppliedText !== undefined && task.format !== 'text') {
    const supplied = attempt('target_text', () => scanSupplied(task));
    if ('kind' in supplied) return supplied;
    if (!haveSameUnits(document, supplied.document)) {
      const [given, wanted] = [supplied.document.units.length, document.units.length];
      const sentence = `has ${given} units where text has ${wanted}; both must have the same.`;
      return { kind: 'invalid', field: 'target_text', sentence };
    }
  }
  const { sourceLanguage } = language;
  const words = countWords(document, sourceLanguage);
  if (!task.countRepeats && !task.listSegments) {
    return { kind: 'valid', sourceLanguage, words, repeatedWords: 0, segments: undefined };
  }
  const found = segments(document, sourceLanguage);
  const valid = { kind: 'valid', sourceLanguage, words } as const;
  return task.listSegments && found.length <= MAX_LISTED_SEGMENTS
    ? { ...valid, repeatedWords: 0, segments: listSegments(found, sourceLanguage) }
    : {
        ...valid,
        repeatedWords: task.countRepeats ? countRepeatedWords(document, sourceLanguage, found) : 0,
        segments: undefined,
      };
}

/**
 * The maximum number of segments whose matches are looked up at creation. A creation is answered at once, so the memory is
 * not searched for a longer text.
 */
const MAX_LISTED_SEGMENTS = 5_000;

function listSegments(found: readonly Segment[], language: string): ExaminedSegment[] {
  const repeated = findRepeated(found);
  return found.map(({ pieces, kept }, index) => ({
    pieces,
    words: kept === undefined ? countSegmentWords(pieces, language) : 0,
    isRepeat: repeated[index]!,
  }));
}

export type CountTask = Pick<ExamineTask, 'text' | 'format' | 'sourceLanguage' | 'settings'>;
export type CountResult =
  | { kind: 'counted'; words: number }
  | { kind: 'invalid'; field: 'text'; sentence: string };

/**
 * Counts words like {@link examine}. If neither the task nor the document names the source language, every
 * word counts, because segments in other languages cannot be recognized.
 */
export function count({ text, format, sourceLanguage, settings }: CountTask): CountResult {
  try {
    const document = scan(text, format, {
      ...settings,
      ...(sourceLanguage === undefined ? {} : { sourceLanguage }),
    });
    return { kind: 'counted', words: countWords(document, document.sourceLanguage ?? 'und') };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { kind: 'invalid', field: 'text', sentence: error.message };
  }
}

export interface ProtectTask {
  /** A plain text. */
  text: string;
  settings: DocumentSettings;
}

/** Returns the parts of a plain text that are not translated. */
export function protect({ text, settings }: ProtectTask): { start: number; end: number }[] {
  return protectedParts(text, settings.protect ?? []);
}

export interface OpenTask {
  text: string;
  format: Format;
  sourceLanguage: string;
  targetLanguage: string;
  settings: DocumentSettings;
}

/** Returns the segments of an examined text, in order. */
export function open(task: OpenTask): Segment[] {
  return segments(scan(task.text, task.format, optionsOf(task)), task.sourceLanguage);
}

/** Returns what an editor sees about each segment of {@link open}, such as its place in the document. */
export function describeSegments(task: OpenTask): Description[] {
  return describe(scan(task.text, task.format, optionsOf(task)), task.sourceLanguage);
}

export interface JoinTask extends OpenTask {
  /** The id of the first segment. */
  first: string;
  parts: readonly JoinPart[];
}

/** Joins segments of {@link open}. @returns why they cannot be joined, if so */
export function joinSegments({ first, parts, ...task }: JoinTask): Joined | JoinFault {
  return join(scan(task.text, task.format, optionsOf(task)), task.sourceLanguage, first, parts);
}

export interface AlignTask extends OpenTask {
  /** The customer's own translation, in the same format. */
  suppliedText: string;
}

/** A segment of {@link open} with the customer's own translation. */
export type AlignedSegment = Segment & Pick<Aligned, 'notes'> & { draft: Piece[] | undefined };

export function alignSupplied(task: AlignTask): AlignedSegment[] {
  const document = scan(task.text, task.format, optionsOf(task));
  const found = segments(document, task.sourceLanguage);
  const supplied = attempt('target_text', () => scanSupplied(task));
  // The supplied text was valid when the job was created. If this version of the program refuses it, the
  // segments get no drafts from it.
  if ('kind' in supplied) return found.map((segment) => ({ ...segment, draft: undefined, notes: [] }));
  const aligned = align(document, supplied.document, task.sourceLanguage, task.targetLanguage);
  const byId = new Map(aligned.map((one) => [one.id, one]));
  return found.map((segment) => {
    const { pieces: draft, notes } = byId.get(segment.id)!;
    return { ...segment, draft, notes };
  });
}

/** Scans a translated document; in XLIFF, the targets are read. */
const scanSupplied = ({ suppliedText = '', format, settings }: SuppliedText) =>
  scan(suppliedText, format, { ...settings, reads: 'target' });
type SuppliedText = Pick<ExamineTask, 'suppliedText' | 'format' | 'settings'>;

/** Translations with the ids of their segments. */
export type Drafts = readonly (readonly [segmentId: string, pieces: Piece[]])[];

/**
 * Opens a text and keeps the scanned document in memory until it is assembled, so that the text is scanned
 * once.
 */
export function openDocument(task: OpenTask): { segments: Segment[]; assemble(drafts: Drafts): string } {
  const document = scan(task.text, task.format, optionsOf(task));
  return {
    segments: segments(document, task.sourceLanguage),
    assemble: (drafts) => rebuild(document, new Map(drafts), task.targetLanguage),
  };
}

export interface AssembleTask extends OpenTask {
  /** Translations by the segment ids of {@link open}; segments without one keep their source. */
  drafts: Drafts;
  /** The HTML comments to write around the segments of an HTML document, by segment id. */
  marks?: readonly (readonly [segmentId: string, comment: string])[];
  /** The sources of the segments that an editor translated, in their order. */
  sources?: readonly (readonly [segmentId: string, pieces: Piece[]])[];
  /** The number of segments that are joined with the first one, by its id. */
  joins?: readonly (readonly [segmentId: string, segments: number])[];
}

export function assemble(task: AssembleTask): string {
  const document = scan(task.text, task.format, optionsOf(task));
  // The ids of segments depend on the language, so the language must be the one with which the text was opened.
  document.segmentLanguage = task.sourceLanguage;
  const drafts = new Map(task.drafts);
  const joins = new Map(task.joins);
  const former = (task.sources ?? []).map(([id, source]) => ({
    id,
    source,
    target: drafts.get(id),
    count: joins.get(id) ?? 1,
  }));
  const carried =
    former.length === 0
      ? undefined
      : carryOver(segments(document, task.sourceLanguage), former, task.targetLanguage);
  return rebuild(document, carried ?? drafts, task.targetLanguage, {
    marks: task.marks && new Map(task.marks),
    joins: carried === undefined ? joins : undefined,
  });
}

function optionsOf(task: Pick<ExamineTask, 'sourceLanguage' | 'targetLanguage' | 'settings'>): ScanOptions {
  const { sourceLanguage, targetLanguage, settings } = task;
  return {
    ...settings,
    targetLanguage,
    ...(sourceLanguage === undefined ? {} : { sourceLanguage }),
  };
}

function languageOf(
  document: Document,
  task: ExamineTask,
): { kind: 'decided'; sourceLanguage: string } | { kind: 'languageUndetermined'; sentence: string } {
  if (task.sourceLanguage !== undefined) return { kind: 'decided', sourceLanguage: task.sourceLanguage };
  const detected = detectLanguage(document, task.offered, task.recent);
  return 'languageUndetermined' in detected
    ? { kind: 'languageUndetermined', sentence: detected.languageUndetermined }
    : { kind: 'decided', sourceLanguage: detected.language };
}

function attempt(field: 'text' | 'target_text', scanning: () => Document): { document: Document } | Invalid {
  try {
    return { document: scanning() };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { message, sentence: why, line, column } = error;
    return { kind: 'invalid', field, sentence: message, fault: { why, line, column } };
  }
}

/** The tasks of scanner processes, by name. */
export const TASKS = {
  align: alignSupplied,
  assemble,
  count,
  describe: describeSegments,
  examine,
  join: joinSegments,
  open,
  protect,
};
export type Tasks = typeof TASKS;
