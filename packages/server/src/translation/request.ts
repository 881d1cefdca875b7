/** What a text is drafted for, and what the memory knows of it. */
import type { Piece } from '@dragoman/documents';
import type { Context, Lane } from '@dragoman/engines';
import type { AccountRef, Environment } from '../base/account.ts';
import type { EngineRouteTier } from './engine-routes.ts';

export interface TranslationRequest {
  /**
   * The account of the text; undefined for a text of an operator, which belongs to no account. Its translations are not
   * cached.
   */
  account: AccountRef | undefined;
  tier: EngineRouteTier;
  brand: string | undefined;
  /** The environment of the text, because some engines may not translate texts of the sandbox. */
  environment: Environment;
  from: string;
  to: string;
  lane: Lane;
  /**
   * Tone, instructions and terms. An engine gets those that it supports; the translator also applies the
   * terms itself.
   */
  context?: Context;
  /** The text before the first segment, for engines that read context. */
  before?: string;
  /** The engine that an operator chose. It is then the only one, and engine routes and the memory are ignored. */
  engine?: string;
  signal: AbortSignal;
  /** Called during the translation with the number of segments that have a draft. */
  progress?(drafted: number): void;
  /** Called after each request to an engine with what it costs, in cents. */
  charged?(cents: number): void;
}

/** A translation from the memory. Its codes have the numbers of the codes in the segment to translate. */
export interface MemoryMatch {
  memoryId: string;
  kind: 'context' | 'exact';
  pieces: Piece[];
}
