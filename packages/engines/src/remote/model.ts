/**
 * Engine for language models with an OpenAI-compatible `chat/completions` API, hosted or local.
 *
 * Protection against prompt injection: texts are JSON data, separate from the rules. The model gets no tools. A call
 * contains texts of one account only. Codes are markers that must all come back. check.ts checks every reply (length,
 * URLs, script, comments). A segment with a bad reply is sent once more, alone; then it fails, and the next engine gets it.
 */

import type { Engine, Language, Term } from '../engine.ts';
import { MARKERS, visibleText } from '../markup.ts';
import type { HttpResult } from './http.ts';
import { SYSTEM, userOf } from './prompt.ts';
import type { Batch, RemoteOptions, Reply, ServiceAdapter } from './remote.ts';
import { failure, field, malformed, RemoteEngine } from './remote.ts';

export interface LanguageModelOptions extends RemoteOptions {
  /** The API key. Local servers often need none. */
  key?: string;
  model: string;
  /** Offered directions, as `en>es`. The operator lists them, because the API cannot list them. */
  directions: readonly string[];
  /**
   * The kind of prompt. `json` (default): many segments per call, with answers constrained by a schema.
   * `plain`: one segment per call, with the prompt of models trained only for translation, without tone,
   * instructions and terms.
   */
  style?: 'json' | 'plain';
  /** The kind of `response_format`, which differs between servers. Default: `schema`. */
  answers?: 'schema' | 'object' | 'none';
  /**
   * Fields to set in each request, or to remove if null, such as `{ temperature: null, reasoning_effort:
   * "low" }`.
   */
  parameters?: Readonly<Record<string, unknown>>;
  /** Estimated maximum number of source tokens per call. Default: 1,500. */
  tokens?: number;
}

const MAX_SEGMENTS = 16;
const SCHEMA = {
  type: 'object',
  properties: {
    segments: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, target: { type: 'string' } },
        required: ['id', 'target'],
        additionalProperties: false,
      },
    },
  },
  required: ['segments'],
  additionalProperties: false,
};

export function createLanguageModel(options: LanguageModelOptions): Engine {
  return new RemoteEngine(languageModel(options), options);
}

function languageModel(options: LanguageModelOptions): ServiceAdapter {
  const { key, model, directions, style = 'json', answers = 'schema', parameters = {} } = options;
  const plain = style === 'plain';
  return {
    name: 'llm',
    capabilities: {
      codes: 'best effort',
      terms: !plain,
      tone: !plain,
      instructions: !plain,
      context: !plain,
      remote: true,
    },
    notation: MARKERS,
    // The limit of characters assumes three characters per token, as in alphabetic scripts. Some servers
    // truncate a longer prompt without an error.
    limits: { segments: plain ? 1 : MAX_SEGMENTS, characters: (options.tokens ?? 1_500) * 3 },
    settings: { style, answers, parameters, system: plain ? '' : SYSTEM },
    model,
    declared: true,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },

    async list() {
      return directions.map((direction) => {
        const [from = '', to = ''] = direction.split('>');
        return { from, to, source: nameOf(from), target: nameOf(to) };
      });
    },

    health: (send) => send({ method: 'GET', path: '/models' }),

    async translate(send, batch) {
      const messages = plain ? plainMessages(batch) : jsonMessages(batch);
      const body = {
        model,
        messages,
        temperature: 0,
        max_tokens: answerTokens(batch.texts),
        ...(plain ? {} : formatOf(answers)),
        ...parameters,
      };
      const result = await send({ method: 'POST', path: '/chat/completions', body: withoutNulls(body) });
      // Some servers respond with status 400, 413 or 422 when their filter rejects a segment.
      if (!result.ok) return failure(result, [400, 413, 422]);
      return readAnswer(result, batch, plain);
    },
  };
}

function jsonMessages(batch: Batch): { role: string; content: string }[] {
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: userOf(batch, termsIn(batch)) },
  ];
}

function plainMessages({ offer, texts }: Batch): { role: string; content: string }[] {
  const { source, target } = offer;
  const content = `Translate the following text from ${source} into ${target}.\n${source}: ${texts[0] ?? ''}\n${target}:`;
  return [{ role: 'user', content }];
}

function formatOf(answers: NonNullable<LanguageModelOptions['answers']>): { response_format?: object } {
  if (answers === 'none') return {};
  if (answers === 'object') return { response_format: { type: 'json_object' } };
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'translations', strict: true, schema: SCHEMA },
    },
  };
}

const withoutNulls = (body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));

/**
 * Returns the token limit of an answer: enough for a translation twice as long, in a language with many
 * tokens per word, and for the JSON around it.
 */
function answerTokens(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return Math.min(16_000, 200 + 40 * texts.length + length);
}

/**
 * Returns the terms that occur in the batch with any ending. Terms without a source apply to every text and
 * come first, then the longest terms.
 */
function termsIn({ sources, context }: Batch): Term[] {
  const text = sources.map(({ segment }) => visibleText(segment.pieces)).join('\n');
  const lower = text.toLowerCase();
  return (context.terms ?? [])
    .filter(({ source, caseSensitive }) =>
      caseSensitive ? begins(source, text) : begins(source.toLowerCase(), lower),
    )
    .sort((a, b) => orderOf(b) - orderOf(a));
}

const orderOf = ({ source }: Term): number => (source === '' ? Number.MAX_SAFE_INTEGER : source.length);

const SPACED = /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{N}]/u;

/** Returns whether a word of the text begins with the term. So `it` does not occur in `with`. */
function begins(term: string, text: string): boolean {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (at === 0 || term === '' || !SPACED.test(term[0]!) || !SPACED.test(text[at - 1]!)) return true;
  }
  return false;
}

function readAnswer(result: Extract<HttpResult, { ok: true }>, batch: Batch, plain: boolean): Reply {
  const choices = field(result.json, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const content = field(field(choice, 'message'), 'content');
  const end = field(choice, 'finish_reason');
  if (end === 'length') {
    return { ok: false, reason: 'garbled', detail: 'the response was cut off (length)', divide: true };
  }
  if (end === 'content_filter') {
    return { ok: false, reason: 'refused', detail: "the service's filter rejected the text", divide: true };
  }
  if (typeof content !== 'string') return malformed('no content');
  return plain ? { ok: true, texts: [content] } : readSegments(content, batch.texts.length);
}

/** Removes the code fence that servers without schema support put around the whole response. */
function unfence(content: string): string {
  const written = content.trim();
  const begin = written.indexOf('\n');
  const fenced = /^```(?:json)?\s*$/.test(written.slice(0, begin)) && written.endsWith('```');
  return begin > 0 && fenced ? written.slice(begin, -3) : content;
}

/** Reads replies by id, in any order. A segment whose id is repeated has no reply. */
function readSegments(content: string, count: number): Reply {
  let json: unknown;
  try {
    json = JSON.parse(unfence(content));
  } catch {
    return malformed('content that is not JSON', true);
  }
  const list = field(json, 'segments');
  if (!Array.isArray(list)) return malformed('no segments', true);
  const texts: (string | null)[] = Array.from({ length: count }, () => null);
  const seen = new Set<number>();
  for (const each of list) {
    const [id, target] = [field(each, 'id'), field(each, 'target')];
    const n = Number(id);
    if (!Number.isInteger(n) || n < 1 || n > count || typeof target !== 'string') continue;
    texts[n - 1] = seen.has(n) ? null : target;
    seen.add(n);
  }
  return { ok: true, texts };
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** Returns the English name of a language, such as `Brazilian Portuguese` for `pt-br`. */
function nameOf(language: Language): string {
  try {
    return NAMES.of(language) ?? language;
  } catch {
    return language;
  }
}
