/**
 * What a machine translation engine is, in our words. Vendor shapes stop in the engine's own folder.
 *
 * A batch of segments goes in, one draft per segment comes out, in the same order. Failure is per segment,
 * because that is how crashes, quotas and bad replies really come.
 */

/** An ISO 639-1 shortname as the interface shows it: `en`, `pt`, `pt-br`, `nb`. */
export type Language = string;

/**
 * A stretch of a segment: text to translate, or an opaque code. The same shape as `@dragoman/documents`
 * gives and takes (the shapes match by structure, no type is shared).
 *
 * - `open`/`close`: the two halves of a paired code; numbers tie them.
 * - `single`: a standalone code (a line break, an image). It stands between words.
 * - `keep`: a protected word (variable, URL, do-not-translate term). `text` is what a reader would see there:
 *   context for the engine, never to be changed.
 */
export type Piece =
  | { text: string }
  | { open: number }
  | { close: number }
  | { single: number }
  | { keep: number; text: string };

export interface Segment {
  /** Unique in the batch; comes back on the draft. */
  id: string;
  pieces: readonly Piece[];
  /** The source text before it, for engines that take context: the last sentences of the document or chat. */
  before?: string;
}

/** A row of a glossary. */
export interface Term {
  source: string;
  /** Empty where the term is only forbidden or not to be translated. */
  target: string;
  caseSensitive: boolean;
  /** `target` must not be used for `source`. */
  forbidden: boolean;
  doNotTranslate: boolean;
  note?: string;
}

/** What the customer said about how to translate. Engines use what they can; see {@link Capabilities}. */
export interface Context {
  /** `Formal`, `Informal`. */
  tone?: string;
  instructions?: string;
  /** Of the target language. */
  terms?: readonly Term[];
  /** The nearest approved translations, nearest first. */
  examples?: readonly { source: string; target: string }[];
  format?: 'text' | 'html' | 'srt' | 'xliff';
}

/** `live`: somebody waits (chat). `bulk`: everything else. Each has its own pipeline, so neither delays the other. */
export type Lane = 'live' | 'bulk';

/** The segments of one account: an engine may send them, and their context, in one call. */
export interface DraftRequest {
  from: Language;
  to: Language;
  segments: readonly Segment[];
  lane: Lane;
  context?: Context;
  /** Aborting rejects the whole request; nothing of it is used afterwards. */
  signal?: AbortSignal;
}

/**
 * - `crashed`, `timeout`: the engine broke off, or took too long.
 * - `garbled`: it answered, and the answer is no translation of this segment.
 * - `too long`: the segment is longer than the engine takes.
 * - `unavailable`: it could not be reached, is too busy, or takes nothing from us (a wrong key, a used-up quota); a later
 *   try may do.
 * - `refused`: it does not accept this text.
 * - `stopped`: the program is ending.
 */
export type FailureReason =
  | 'crashed'
  | 'timeout'
  | 'garbled'
  | 'too long'
  | 'unavailable'
  | 'refused'
  | 'stopped';

/** Translated, unsupported and failed are three results. Source text is never passed off as a translation. */
export type Draft =
  | {
      id: string;
      status: 'translated';
      pieces: Piece[];
      /** e.g. `apertium:eng-cat+cat-por` */
      route: string;
      /** How sure the engine is, 0 to 1, where it says so. */
      score?: number;
    }
  | { id: string; status: 'unsupported'; detail: string }
  | { id: string; status: 'failed'; reason: FailureReason; detail: string };

/** One direction an engine really can do: it passed its self-test on this machine. */
export interface Direction {
  from: Language;
  to: Language;
  route: string;
  hops: 1 | 2;
  /** The operator declared it, and who would do it is not there to be tested. */
  untested?: true;
}

/** What an engine takes, so that the pipeline does the rest itself. */
export interface Capabilities {
  /** What becomes of codes: always kept, kept where the engine manages, or not understood at all. */
  codes: 'kept' | 'best effort' | 'none';
  /** It follows a glossary itself. Where not, terms are put in place as protected words before it. */
  terms: boolean;
  tone: boolean;
  instructions: boolean;
  /** It reads `before` and `examples`. */
  context: boolean;
  /** Texts leave this machine. */
  remote: boolean;
  /** It answers the same text in the same way for as long as its version stays, so that a bad reply is not asked for again. */
  deterministic?: true;
  /** How many pipelines of its own it has for a direction's `bulk` lane; one where it does not say. */
  atOnce?: number;
}

export interface Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  /**
   * Changes whenever drafts may: the engine's own version and that of its data. What was measured of one
   * version holds until it changes.
   */
  version(): Promise<string>;
  /** The directions offered now: measured by self-test, not declared, unless they are marked as untested. */
  directions(): Promise<Direction[]>;
  /** One draft per segment, same order. Rejects only when aborted or stopped. */
  draft(request: DraftRequest): Promise<Draft[]>;
  health(): Promise<{ ok: boolean; detail: string }>;
  /** Ends every child process. Requests in flight end as failed (`stopped`). */
  stop(): Promise<void>;
}
