/**
 * The interface of a machine translation engine. Each vendor's own types stay in the folder of its engine.
 *
 * An engine gets a batch of segments and returns one draft per segment, in the same order. Each segment
 * fails on its own, because crashes, quotas and bad replies affect single segments.
 */

import type { Format } from '@dragoman/documents';
import type { Confidence } from './confidence.ts';

/** A language code of the API, based on ISO 639-1: `en`, `pt`, `pt-br`, `nb`. */
export type Language = string;

/**
 * A part of a segment: text to translate, or an opaque code. Structurally the same type as in `@dragoman/documents`.
 *
 * - `open`/`close`: the two halves of a paired code, with the same number.
 * - `single`: a standalone code between words, such as a line break or an image.
 * - `keep`: a protected word, such as a variable, a URL or a do-not-translate term. `text` is what a reader sees
 *   there. Engines use it as context and must not change it.
 */
export type Piece =
  | { text: string }
  | { open: number }
  | { close: number }
  | { single: number }
  | { keep: number; text: string };

export interface Segment {
  /** The id of the segment, unique in its batch. The draft has the same id. */
  id: string;
  pieces: readonly Piece[];
  /** The preceding source text of the document or chat, for engines that use context. */
  before?: string;
}

export interface Term {
  source: string;
  /** The target word; empty for a term that must not be translated. */
  target: string;
  caseSensitive: boolean;
  /** Whether `target` must not be used for `source`. */
  forbidden: boolean;
  doNotTranslate: boolean;
  note?: string;
}

/** Data that guides a translation. Engines use the parts that they support; see {@link Capabilities}. */
export interface Context {
  /** `Formal` or `Informal`. */
  tone?: string;
  instructions?: string;
  /** Glossary terms for the target language. */
  terms?: readonly Term[];
  /** Similar approved translations, most similar first. */
  examples?: readonly { source: string; target: string }[];
  format?: Format;
}

/**
 * The priority of a request. `interactive`: people wait for the result, as in chats. `bulk`: all other
 * requests. Each lane has its own pipeline, so that bulk requests do not delay interactive ones.
 */
export type Lane = 'interactive' | 'bulk';

/** A request with segments of one account. An engine may send them with their context in one call. */
export interface DraftRequest {
  from: Language;
  to: Language;
  segments: readonly Segment[];
  lane: Lane;
  context?: Context;
  /** When the signal is aborted, the whole request rejects. */
  signal?: AbortSignal;
}

/**
 * Why an engine failed to translate a segment.
 *
 * - `crashed`, `timeout`: the engine died or took too long.
 * - `garbled`: the reply is not a translation of this segment.
 * - `too long`: the segment exceeds the engine's limit.
 * - `unavailable`: the engine cannot be reached, is too busy, or rejects all requests (invalid key, exhausted quota).
 *   A later attempt may succeed.
 * - `refused`: the engine does not accept this text.
 * - `stopped`: the program is shutting down.
 */
export type FailureReason =
  | 'crashed'
  | 'timeout'
  | 'garbled'
  | 'too long'
  | 'unavailable'
  | 'refused'
  | 'stopped';

/** The result for one segment. A failed segment never gets its source text as a translation. */
export type Draft =
  | {
      id: string;
      status: 'translated';
      pieces: Piece[];
      /** The name of the engine and its route, for example `apertium:eng-cat+cat-por`. */
      route: string;
      /** Undefined if the engine reports no probabilities. */
      confidence?: Confidence | undefined;
    }
  | { id: string; status: 'unsupported'; detail: string }
  | { id: string; status: 'failed'; reason: FailureReason; detail: string };

/** A language pair that an engine serves: its self-test passed on this machine. */
export interface Direction {
  from: Language;
  to: Language;
  route: string;
  hops: 1 | 2;
  /** True when the operator declared the pair but its service could not be reached for a self-test. */
  untested?: true;
}

/** The features that an engine supports. The caller does the work of some features that the engine lacks. */
export interface Capabilities {
  /** Whether the engine always preserves codes, preserves them if it can, or does not support them. */
  codes: 'kept' | 'best effort' | 'none';
  /** Whether the engine applies a glossary. Otherwise the caller inserts terms as protected words. */
  terms: boolean;
  tone: boolean;
  instructions: boolean;
  /** Whether the engine uses the preceding text (`before`) and the `examples` of a request. */
  context: boolean;
  /** Whether the engine sends texts to another machine. */
  remote: boolean;
  /** True when the same text gets the same reply until the version changes. A bad reply is then not requested again. */
  deterministic?: true;
  /** Number of pipelines in the `bulk` lane of a direction. Default: 1. */
  atOnce?: number;
}

/** Receives the course of the self-tests. */
export interface SelfTestObserver {
  /** Called once, with all directions that are about to be tested. */
  begun(directions: readonly Direction[]): void;
  /** Called with directions whose self-test has just passed, while others are still tested. */
  passed(directions: readonly Direction[]): void;
}

export interface Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  /**
   * Returns the version of the engine and its data. It changes whenever drafts may change, and results of
   * self-tests are valid only for one version.
   */
  version(): Promise<string>;
  /**
   * Returns the directions that are offered now. Each one passed a self-test, unless it is marked as
   * untested. Engines whose self-tests take long tell the `observer` about each one.
   */
  directions(observer?: SelfTestObserver): Promise<Direction[]>;
  /**
   * Returns whether the engine could translate the pair, without a self-test. Engines that lack this function are asked
   * for every pair.
   */
  serves?(from: Language, to: Language): Promise<boolean>;
  /**
   * Returns one draft per segment, in the same order. Rejects only when the request is aborted or the engine
   * stopped.
   */
  draft(request: DraftRequest): Promise<Draft[]>;
  health(): Promise<{ ok: boolean; detail: string }>;
  /** Ends every child process. Segments in flight fail with `stopped`. */
  stop(): Promise<void>;
}
